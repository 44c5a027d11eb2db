public import AppleAccounts

/// A native sign-in yields tokens without a code and without a consent page (RFC 8693). The sign-in is
/// committed already.
public struct TokenExchangeCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The ID of the grant if the grant is new.
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let scope: String
    public let authenticatedAt: Moment
    /// Earliest permitted authentication; `nil` without `max_authentication_age`.
    public let authenticatedAfter: Moment?
    public let newFamilyID: UniqueID
    public let refreshToken: NewRefreshToken
    /// End of the token family if its refresh token is not used.
    public let familyExpiresAt: Moment
    public let limits: FamilyLimits
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        scope: String, authenticatedAt: Moment, authenticatedAfter: Moment?, newFamilyID: UniqueID,
        refreshToken: NewRefreshToken, familyExpiresAt: Moment, limits: FamilyLimits, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.scope = scope
        self.authenticatedAt = authenticatedAt
        self.authenticatedAfter = authenticatedAfter
        self.newFamilyID = newFamilyID
        self.refreshToken = refreshToken
        self.familyExpiresAt = familyExpiresAt
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}
