import Cryptography
import Encodings
import Testing

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

    @Test(arguments: vectors)
    func `agrees with RFC 5869`(vector: Vector) {
        let derived = HKDFSHA256.deriveKey(from: vector.key, salt: vector.salt, info: vector.info)
        #expect(Hexadecimal.encode(derived) == vector.output)
    }
}
