import StrictJSON

/// The claims of an identity token before a forgery, in the order of Apple's tokens.
struct IdentityTokenClaims {
    /// The issuer of all tokens, also the emulator's: only the keys differ.
    static let issuer = "https://appleid.apple.com"

    let basis: IdentityTokenBasis
    let nonce: String?
    let authorizationCode: String?
    let accessToken: String?
    /// This and the two following times are in seconds since 1970.
    let issuedAt: Int64
    let expiresAt: Int64
    let authenticatedAt: Int64

    var object: JSONObject {
        var claims = JSONObject([
            ("iss", .string(Self.issuer)), ("aud", .string(basis.clientID)), ("exp", .integer(expiresAt)),
            ("iat", .integer(issuedAt)), ("sub", .string(basis.identity.subject)),
        ])
        claims["nonce"] = nonce.map { .string($0) }
        claims["c_hash"] = authorizationCode.map { .string(BoundSecret.hash(of: $0)) }
        claims["at_hash"] = accessToken.map { .string(BoundSecret.hash(of: $0)) }
        let user = basis.user
        if basis.sharesEmail, let email = user.shownEmail(to: basis.identity) {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(user.isEmailVerified)
            if user.hidesEmail { claims["is_private_email"] = .bool(true) }
        }
        claims["auth_time"] = .integer(authenticatedAt)
        // Apple's tokens have `transfer_sub` before the next two claims.
        claims["transfer_sub"] = basis.transferSubject.map { .string($0) }
        claims["nonce_supported"] = .bool(true)
        if !basis.isFromWeb { claims["real_user_status"] = user.realUserStatus.map { .integer($0) } }
        return claims
    }
}

/// The data for an identity token, read under one lock, so that signing needs no lock.
struct IdentityTokenBasis {
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let isFirstAuthorization: Bool
    /// True if the app may see the e-mail address.
    let sharesEmail: Bool
    /// True if the user signs in on a web page: then Apple does not send `real_user_status`.
    let isFromWeb: Bool
    /// Identifier of the user for both teams during a transfer of the app.
    let transferSubject: String?
    let keys: SigningKeys
}
