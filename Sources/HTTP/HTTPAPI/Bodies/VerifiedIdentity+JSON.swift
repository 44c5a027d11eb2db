import AppleAccounts
import AppleIdentity
import StrictJSON

extension JSONWriter {
    /// Writes `identity`: the token's claims under Apple's names, with real booleans and RFC 3339 times.
    mutating func value(_ identity: VerifiedIdentity, of app: App) {
        beginObject()
        member("iss", identity.issuer)
        member("sub", identity.subject)
        member("aud", identity.clientID)
        member("team_id", app.team.rawValue)
        member("client_id", app.primaryClientID.rawValue)
        member("iat", identity.issuedAt.rfc3339)
        member("exp", identity.expiresAt.rfc3339)
        member("auth_time", ifPresent: identity.authenticatedAt?.rfc3339)
        member("nonce", ifPresent: identity.nonce)
        member("nonce_supported", ifPresent: identity.nonceSupported)
        member("c_hash", ifPresent: identity.codeHash)
        member("at_hash", ifPresent: identity.accessTokenHash)
        member("email", ifPresent: identity.email)
        member("email_verified", ifPresent: identity.emailVerified)
        member("is_private_email", ifPresent: identity.isPrivateEmail)
        member("real_user_status", ifPresent: identity.realUserStatus)
        member("transfer_sub", ifPresent: identity.transferSubject)
        member("org_id", ifPresent: identity.organizationID)
        endObject()
    }
}

extension NumericDate {
    /// The time as RFC 3339 text in UTC.
    var rfc3339: String { Moment(seconds: secondsSince1970).rfc3339 }
}
