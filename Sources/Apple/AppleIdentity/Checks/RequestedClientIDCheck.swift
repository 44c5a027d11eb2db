import Encodings

/// Refuses a token for another client ID than the caller named. It comes in addition to `AudienceCheck`.
struct RequestedClientIDCheck: ClaimCheck {
    let clientID: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard case .one(let audience) = claims.audience, audience.isByteEqual(to: clientID) else {
            throw AppleTokenError(.audienceMismatch, detail: "aud=\(claims.audience)")
        }
    }
}
