// AuthorizationServer owns OAuth 2.0: clients, scopes, redirect URIs, requests, grants, codes, tokens, and
// what is decided about them. It does no I/O, reads no clock, and knows neither HTTP servers nor databases.

public import AppleAccounts

/// What one person has granted to one OAuth client. Each authorization adds a line of tokens to it.
public struct GrantRecord: Sendable, Hashable {
    public let id: GrantID
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The primary client ID of the app that the OAuth client belongs to. The credential for it decides
    /// whether tokens of the grant are good.
    public let clientID: ClientID
    /// All scopes that the person has agreed to, space-separated, in the order in which that happened.
    public var scope: String
    public let createdAt: Moment
    /// When the person last agreed.
    public var consentedAt: Moment
    /// The authorization moment of the latest line or code. A revocation ends what is not younger.
    public var authorizedAt: Moment
    /// The `sub` of the Google account that was linked last by streamlined linking. It is told, and decides
    /// nothing: each line has the one that it came with.
    public var googleSubject: String?

    public init(
        id: GrantID, accountID: AccountID, oauthClientID: OAuthClientID, clientID: ClientID, scope: String,
        createdAt: Moment, consentedAt: Moment, authorizedAt: Moment, googleSubject: String? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.scope = scope
        self.createdAt = createdAt
        self.consentedAt = consentedAt
        self.authorizedAt = authorizedAt
        self.googleSubject = googleSubject
    }
}
