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

@Suite struct HMACSHA256Tests {
    struct Vector: Sendable {
        let key: [UInt8]
        let message: [UInt8]
        let code: String
    }

    /// RFC 4231, test cases 1, 2, 3, 6 and 7.
    static let vectors = [
        Vector(
            key: Array(repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: Array(repeating: 0xaa, count: 20), message: Array(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: Array(repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: Array(repeating: 0xaa, count: 131),
            message: Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. \
                The key needs to be hashed before being used by the HMAC algorithm.
                """.utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test(arguments: vectors) func `agrees with RFC 4231`(vector: Vector) throws {
        let mac = HMACSHA256(key: vector.key)
        let code = mac.code(for: vector.message)
        #expect(Hexadecimal.encode(code) == vector.code)
        #expect(mac.isValid(code, for: vector.message))
        #expect(!mac.isValid(code, for: vector.message + [0]))
        #expect(!mac.isValid(Array(code.dropLast()), for: vector.message))
        #expect(!mac.isValid([], for: vector.message))
    }

    @Test func `does not show its key`() {
        let mac = HMACSHA256(key: Array("a secret".utf8))
        #expect("\(mac)" == "HMAC-SHA-256")
        #expect(String(reflecting: mac) == "HMAC-SHA-256")
        #expect(Mirror(reflecting: mac).children.isEmpty)
    }
}

@Suite struct HKDFSHA256Tests {
    struct Vector: Sendable {
        let key: [UInt8]
        let salt: [UInt8]
        let info: [UInt8]
        /// The first 32 bytes of the output.
        let output: String
    }

    /// RFC 5869, test cases 1 to 3.
    static let vectors = [
        Vector(
            key: Array(repeating: 0x0b, count: 22), salt: Array(0...0x0c), info: Array(0xf0...0xf9),
            output: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"),
        Vector(
            key: Array(0...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            output: "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"),
        Vector(
            key: Array(repeating: 0x0b, count: 22), salt: [], info: [],
            output: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"),
    ]

    @Test(arguments: vectors) func `agrees with RFC 5869`(vector: Vector) {
        let derived = HKDFSHA256.deriveKey(from: vector.key, salt: vector.salt, info: vector.info)
        #expect(Hexadecimal.encode(derived) == vector.output)
    }
}
