import Encodings
import JOSE
import StrictJSON

/// An ID token as received, not yet checked (OpenID Connect Core §2).
struct IDToken: Sendable {
    let algorithm: String
    let keyID: String?
    let issuer: String
    let subject: String
    let audience: [String]
    let expiresAt: Int64
    let nonce: String?
    let authorizedParty: String?
    let accessTokenHash: String?
    let segments: JWSSegments

    /// Throws `.idTokenRefused` unless the text is a compact JWS with the required claims.
    init(parsing compact: String) throws(LoginError) {
        guard let segments = JWSSegments(compact: compact),
            let header = try? JSONValue(parsing: segments.header),
            let claims = try? JSONValue(
                parsing: segments.payload, limits: JSONLimits(depth: 16, members: 128)),
            let algorithm = header["alg"]?.string, header["crit"] == nil
        else { throw LoginError(.idTokenRefused, "the ID token must be a signed JWT, and it is not") }
        guard let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string, !subject.isEmpty,
            subject.utf8.count <= 255, let expiresAt = claims["exp"]?.integer, claims["iat"]?.integer != nil,
            let audience = Self.audience(claims["aud"])
        else { throw LoginError(.idTokenRefused, "the ID token must have iss, sub, aud, exp and iat") }
        self.segments = segments
        (self.algorithm, keyID) = (algorithm, header["kid"]?.string)
        (self.issuer, self.subject, self.audience, self.expiresAt) = (issuer, subject, audience, expiresAt)
        nonce = claims["nonce"]?.string
        authorizedParty = claims["azp"]?.string
        accessTokenHash = claims["at_hash"]?.string
    }

    private static func audience(_ value: JSONValue?) -> [String]? {
        if let one = value?.string { return [one] }
        guard let array = value?.array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count && !strings.isEmpty ? strings : nil
    }
}
