package import JOSE

/// A token of unknown origin, whose size, form and header are already checked because they need no key.
///
/// The payload cannot be read before verification, except for the
/// claimed time. Look up the key by `keyID`, then call a verifier.
public struct UnverifiedToken: Sendable {
    /// Maximum size in bytes. Apple's tokens are 640 to 880 bytes long.
    public static let longestToken = 16 * 1024

    let jws: CompactJWS

    /// `kid`: 1 to 64 arbitrary characters. Untrusted.
    public var keyID: String { jws.keyID }

    /// `iat`: untrusted. Use it only to choose between "no such key" and "keys not available now".
    public var claimedIssuedAt: NumericDate? { Self.issuedAt(claimedIn: jws) }

    /// Returns the unverified `iat` of any signed token; `nil` if it has none.
    package static func issuedAt(claimedIn jws: CompactJWS) -> NumericDate? {
        ClaimReader.issuedAt(claimedIn: jws.payload)
    }

    /// Checks a token's size, form and header.
    ///
    /// Throws the codes for steps `size` to `keyID` of `VerificationStep`.
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

    /// Returns the payload if `key` verifies the signature.
    func payload(signedBy key: RSAPublicKey) throws(AppleTokenError) -> [UInt8] {
        guard jws.isSigned(by: key) else { throw AppleTokenError(.signatureInvalid) }
        return jws.payload
    }
}
