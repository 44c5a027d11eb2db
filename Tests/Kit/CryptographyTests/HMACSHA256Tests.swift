import Cryptography
import Encodings
import Testing

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

    @Test(arguments: vectors)
    func `agrees with RFC 4231`(vector: Vector) throws {
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
