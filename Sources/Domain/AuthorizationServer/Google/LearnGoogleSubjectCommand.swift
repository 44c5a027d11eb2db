public import AppleAccounts

/// Google's assertion leads to an account that may have a link already, and gives no tokens (streamlined
/// linking, intent `create`).
public struct LearnGoogleSubjectCommand: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    public let googleSubject: String
    public let match: GoogleAccountMatch
    /// Time at which Google made the assertion, by Google's clock.
    public let assertedAt: Moment

    public init(
        accountID: AccountID, oauthClientID: OAuthClientID, googleSubject: String, match: GoogleAccountMatch,
        assertedAt: Moment
    ) {
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.googleSubject = googleSubject
        self.match = match
        self.assertedAt = assertedAt
    }
}
