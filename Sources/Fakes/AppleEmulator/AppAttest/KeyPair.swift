import EmulatorServer
import JOSE

/// A P-256 key pair that belongs to a fake device or a fake certificate authority.
struct KeyPair: Sendable {
    /// Private key in PKCS #8. It protects no real data, but the fake Apple's clients must not see it.
    let pem: String
    let publicKey: ECPublicKey
    private let signer: TokenSigningKey

    /// Reads a key pair. Throws `.attestationUnsignable` if the text is not a P-256 key in PEM.
    init(pem: String) throws(EmulatorError) {
        do {
            signer = try TokenSigningKey(pem: pem, algorithm: .ES256)
            publicKey = try ECPrivateKey(pem: pem).publicKey
        } catch {
            throw EmulatorError(.attestationUnsignable, detail: error.detail)
        }
        self.pem = pem
    }

    /// Generates a key pair. Throws `.attestationUnsignable` if OpenSSL fails.
    static func generate() throws(EmulatorError) -> KeyPair {
        do {
            return try KeyPair(pem: ECPrivateKey.generate().pem)
        } catch {
            throw EmulatorError(.attestationUnsignable, detail: "the key could not be generated")
        }
    }

    /// Signs with ECDSA and SHA-256, and returns the signature in DER. Throws `.attestationUnsignable` if
    /// OpenSSL fails.
    ///
    /// - Parameter isHigh: True for an s in the upper half of its range, false for the lower half; `nil` for
    ///   either half at random, as on devices.
    func sign(_ message: [UInt8], isHigh: Bool? = nil) throws(EmulatorError) -> [UInt8] {
        let raw: [UInt8]
        do {
            raw = try signer.signature(for: message)
        } catch {
            throw EmulatorError(.attestationUnsignable, detail: error.detail)
        }
        var s = Array(raw.suffix(32))
        if let isHigh, Self.isHigh(s) != isHigh { s = Self.negated(s) }
        return DERItem.sequence([.integer(Array(raw.prefix(32))), .integer(s)]).bytes
    }

    private static func isHigh(_ s: [UInt8]) -> Bool { halfOfOrder.lexicographicallyPrecedes(s) }

    /// Returns n - s, which is equally valid in a signature.
    private static func negated(_ s: [UInt8]) -> [UInt8] {
        var (result, borrow) = (s, 0)
        for index in s.indices.reversed() {
            let difference = Int(order[index]) - Int(s[index]) - borrow
            result[index] = UInt8(truncatingIfNeeded: difference)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }

    /// The order n of the P-256 group (FIPS 186-4, D.1.2.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private static let halfOfOrder: [UInt8] = [
        0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xDE, 0x73, 0x7D, 0x56, 0xD3, 0x8B, 0xCF, 0x42, 0x79, 0xDC, 0xE5, 0x61, 0x7E, 0x31, 0x92, 0xA8,
    ]
}
