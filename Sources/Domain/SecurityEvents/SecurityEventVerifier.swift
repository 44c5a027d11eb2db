public import JOSE
import StrictJSON

/// Verifies security event tokens that are signed like this service's own: ES256 or RS256, with the `typ`
/// `secevent+jwt`.
///
/// Google's tokens have no `typ`. `GoogleEventToken` verifies these.
public struct SecurityEventVerifier: Sendable {
    public let issuer: String
    public let audiences: [String]

    public init(issuer: String, audiences: [String]) {
        (self.issuer, self.audiences) = (issuer, audiences)
    }

    /// - Parameters:
    ///   - key: The current key of the issuer with this ID.
    ///   - now: Seconds since 1970.
    public func verify(
        _ token: String, at now: Int64, key: (String) -> TokenVerificationKey?
    ) throws(SecurityEventError) -> SecurityEventClaims {
        // The `typ` keeps an ID token or an access token of the same issuer from passing (RFC 8417 §4.6).
        guard let jws = try? TypedJWS(parsing: Array(token.utf8)),
            let type = jws.type?.lowercased(),
            [SecurityEventToken.type.description, SecurityEventToken.mediaType].contains(type)
        else {
            throw SecurityEventError(.invalidRequest, "The body must be one signed JWT of type secevent+jwt.")
        }
        guard let key = key(jws.keyID), jws.isSigned(by: key) else {
            throw SecurityEventError(.invalidKey, "The signature is not by a current key of the issuer.")
        }
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object else {
            throw SecurityEventError(.invalidRequest, "The claims must be a JSON object.")
        }
        return try SecurityEventClaims(claims, issuer: issuer, audiences: audiences, at: now)
    }
}
