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
    public let newLineID: UniqueID
    public let refreshToken: NewRefreshToken
    public let ceilings: LineCeilings
    public let moment: Moment

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        googleSubject: String, match: GoogleAccountMatch, assertedAt: Moment, scope: String,
        newLineID: UniqueID, refreshToken: NewRefreshToken,
        ceilings: LineCeilings, moment: Moment
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.googleSubject = googleSubject
        self.match = match
        self.assertedAt = assertedAt
        self.scope = scope
        self.newLineID = newLineID
        self.refreshToken = refreshToken
        self.ceilings = ceilings
        self.moment = moment
    }
}
