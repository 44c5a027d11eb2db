public import AppleAccounts

/// A client revokes a token (RFC 7009).
public struct RevokeCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    /// A refresh token, or the token family of an access token whose signature was verified.
    public let token: Token
    public let moment: Moment

    public enum Token: Sendable, Hashable {
        case refresh(RefreshTokenText)
        case access(familyID: UniqueID)
    }

    /// For the audit log.
    public let origin: AuditOrigin

    public init(oauthClientID: OAuthClientID, token: Token, moment: Moment, origin: AuditOrigin = .current) {
        (self.oauthClientID, self.token, self.moment) = (oauthClientID, token, moment)
        self.origin = origin
    }
}
