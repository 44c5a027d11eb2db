package import JOSE

/// A token of unknown origin. Its size, form and header, which need no key, have been checked.
///
/// Its payload cannot be read before verification, except for the claimed time. Look
/// up the key by `keyID`, then call a verifier.
public struct UnverifiedToken: Sendable {
    /// Largest size in bytes. Apple's tokens have 640 to 880.
    public static let longestToken = 16 * 1024

    let jws: CompactJWS

    /// `kid`: untrusted, 1 to 64 characters, any characters.
    public var keyID: String { jws.keyID }

    /// `iat`: untrusted. Only for the choice between "no such key" and "keys not available now".
    public var claimedIssuedAt: NumericDate? { Self.issuedAt(claimedIn: jws) }

    /// Returns the unverified `iat` of any signed token.
    package static func issuedAt(claimedIn jws: CompactJWS) -> NumericDate? {
        ClaimReader.issuedAt(claimedIn: jws.payload)
    }

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
