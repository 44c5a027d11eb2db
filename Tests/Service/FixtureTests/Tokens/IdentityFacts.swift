import AppleIdentity

/// Expected values of a verified identity. A member that the file does not name must be absent.
struct IdentityFacts: Decodable, Equatable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case iss, sub, iat, exp, nonce, email
        case clientID = "client_id"
        case authTime = "auth_time"
        case authorizationMoment = "authorization_moment"
        case nonceSupported = "nonce_supported"
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case realUserStatus = "real_user_status"
        case transferSub = "transfer_sub"
        case organizationID = "org_id"
        case codeHash = "c_hash"
        case accessTokenHash = "at_hash"
    }

    let iss, sub, clientID: ExactText
    let iat, exp, authorizationMoment: Int64
    let authTime: Int64?
    let nonce, email, transferSub, organizationID, codeHash, accessTokenHash: ExactText?
    let nonceSupported, emailVerified, isPrivateEmail: Bool?
    let realUserStatus: Int64?

    init(_ identity: VerifiedIdentity) {
        iss = ExactText(identity.issuer)
        sub = ExactText(identity.subject)
        clientID = ExactText(identity.clientID)
        iat = identity.issuedAt.secondsSince1970
        exp = identity.expiresAt.secondsSince1970
        authorizationMoment = identity.authorizationMoment.secondsSince1970
        authTime = identity.authenticatedAt?.secondsSince1970
        nonce = ExactText(identity.nonce)
        email = ExactText(identity.email)
        transferSub = ExactText(identity.transferSubject)
        organizationID = ExactText(identity.organizationID)
        codeHash = ExactText(identity.codeHash)
        accessTokenHash = ExactText(identity.accessTokenHash)
        nonceSupported = identity.nonceSupported
        emailVerified = identity.emailVerified
        isPrivateEmail = identity.isPrivateEmail
        realUserStatus = identity.realUserStatus
    }
}
