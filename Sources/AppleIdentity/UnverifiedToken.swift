import JOSE

/// A token of unknown origin. Everything that needs no key has been checked: size, form and header.
///
/// Its payload cannot be read before verification. Look up the key by `keyID`, then call a verifier.
public struct UnverifiedToken: Sendable {
    /// In bytes. Apple's tokens have 640 to 880.
    public static let longestToken = 16 * 1024

    let jws: CompactJWS

    /// `kid`: untrusted, 1 to 64 characters, any characters.
    public var keyID: String { jws.keyID }

    /// Throws the codes of the steps `size` to `keyID` in `VerificationStep`.
    public init(_ compact: String) throws(AppleTokenError) {
        try self.init(utf8: Array(compact.utf8))
    }

    public init(utf8 bytes: [UInt8]) throws(AppleTokenError) {
        guard bytes.count <= Self.longestToken else { throw AppleTokenError(.tokenTooLarge) }
        do throws(JOSEError) {
            jws = try CompactJWS(parsing: bytes)
        } catch {
            throw AppleTokenError(error)
        }
    }

    /// Returns the payload if `key` has signed it.
    func payload(signedBy key: RSAPublicKey) throws(AppleTokenError) -> [UInt8] {
        guard jws.isSigned(by: key) else { throw AppleTokenError(.signatureInvalid) }
        return jws.payload
    }
}
