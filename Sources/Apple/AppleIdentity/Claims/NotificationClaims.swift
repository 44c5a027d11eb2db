import StrictJSON

/// The claims of a server-to-server notification as Apple signed them, typed but not yet checked against
/// anything.
struct NotificationClaims: AppleClaims {
    var issuer: String
    var audience: Audience
    var expiresAt: NumericDate
    var issuedAt: NumericDate
    var notBefore: NumericDate?
    var identifier: String?
    var events: JSONValue

    /// Throws `.tokenMalformed`, `.notANotification`, `.claimMalformed` or `.claimMissing`.
    init(parsing payload: [UInt8]) throws(AppleTokenError) {
        var issuer, identifier: String?
        var audience: Audience?
        var expiresAt, issuedAt, notBefore: NumericDate?
        var events: JSONValue?
        var claims = ClaimReader(payload)
        do throws(JSONError) {
            try claims.begin()
            while let name = try claims.next() {
                switch name {
                case "iss": issuer = try claims.string("iss")
                case "aud": audience = try claims.audience()
                case "exp": expiresAt = try claims.date("exp")
                case "iat": issuedAt = try claims.date("iat")
                case "nbf": notBefore = try claims.date("nbf")
                case "jti": identifier = try claims.string("jti")
                case "events": events = try claims.value()
                default: try claims.skip()
                }
            }
            try claims.finish()
        } catch {
            throw AppleTokenError(.tokenMalformed, at: .payload, detail: error.detail)
        }
        guard let events else { throw AppleTokenError(.notANotification) }
        if let claim = claims.malformed { throw AppleTokenError(.claimMalformed, detail: claim) }
        guard let issuer, let audience, let expiresAt, let issuedAt else {
            throw AppleTokenError(.claimMissing)
        }
        (self.issuer, self.audience) = (issuer, audience)
        (self.expiresAt, self.issuedAt, self.notBefore) = (expiresAt, issuedAt, notBefore)
        (self.identifier, self.events) = (identifier, events)
    }
}
