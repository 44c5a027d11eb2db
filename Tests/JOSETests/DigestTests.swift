import JOSE
import Testing

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `agrees with the vectors of FIPS 180-4`(text: String, digest: String) {
        #expect(Hexadecimal.encode(SHA256Digest.hash(text)) == digest)
        #expect(Hexadecimal.decode(digest) == SHA256Digest.hash(text))
    }

    @Test(arguments: ["0", "0g", "AB", " 0"])
    func `refuses hexadecimal that is not lowercase pairs`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }

    @Test func `compares secrets by content and length`() {
        #expect(ConstantTime.areEqual([], []))
        #expect(ConstantTime.areEqual([1, 2], [1, 2]))
        #expect(!ConstantTime.areEqual([1, 2], [1, 3]))
        #expect(!ConstantTime.areEqual([1, 2], [1, 2, 3]))
    }

    @Test func `draws other bytes each time`() {
        #expect(SecureRandom.bytes(count: 32) != SecureRandom.bytes(count: 32))
        #expect(SecureRandom.bytes(count: 32).count == 32)
    }
}
