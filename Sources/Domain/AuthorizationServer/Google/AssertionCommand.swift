public import AppleAccounts

/// Google's assertion yields tokens without a code (streamlined linking, intent `get`).
public struct AssertionCommand: Sendable, Hashable {
    public let accountID: AccountID
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let googleSubject: String
    public let match: GoogleAccountMatch
    /// Time at which Google made the assertion, by Google's clock.
    public let assertedAt: Moment
    public let scope: String
    public let newFamilyID: UniqueID
    public let refreshToken: NewRefreshToken
    public let limits: FamilyLimits
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        googleSubject: String, match: GoogleAccountMatch, assertedAt: Moment, scope: String,
        newFamilyID: UniqueID, refreshToken: NewRefreshToken,
        limits: FamilyLimits, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.googleSubject = googleSubject
        self.match = match
        self.assertedAt = assertedAt
        self.scope = scope
        self.newFamilyID = newFamilyID
        self.refreshToken = refreshToken
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}
