import Cryptography
import Encodings
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4's examples, and the lengths around the end of a block.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 55),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
        ),
        (
            String(repeating: "a", count: 64),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        ),
        (
            String(repeating: "a", count: 1000),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        ),
    ])
    func `agrees with the vectors of FIPS 180-4`(text: String, digest: String) {
        #expect(Hexadecimal.encode(SHA256Digest.hash(text)) == digest)
        #expect(Hexadecimal.decode(digest) == SHA256Digest.hash(text).bytes)
    }

    @Test func `is a collection of 32 bytes, and equal by all of them`() throws {
        let digest = SHA256Digest.hash("abc")
        #expect(SHA256Digest(digest.bytes) == digest)
        #expect(digest.count == 32 && digest.first == 0xBA && digest.last == 0xAD)
        for index in 0..<32 {
            var bytes = digest.bytes
            bytes[index] ^= 1
            let other = try #require(SHA256Digest(bytes))
            #expect(other != digest)
        }
        #expect(SHA256Digest(digest.dropLast()) == nil)
        #expect(SHA256Digest(digest.bytes + [0]) == nil)
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
