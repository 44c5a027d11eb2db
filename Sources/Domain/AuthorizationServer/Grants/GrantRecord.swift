// AuthorizationServer owns OAuth 2.0: clients, scopes, redirect URIs, requests, grants, codes, tokens, and
// the decisions about them. It does no I/O, reads no clock, and knows neither HTTP servers nor databases.

public import AppleAccounts

/// Access that one user has granted to one OAuth client. Each authorization adds a token family.
public struct GrantRecord: Sendable, Hashable {
    public let id: GrantID
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The primary client ID of the app that the OAuth client belongs to. The credential for this app decides
    /// whether tokens of the grant are valid.
    public let clientID: ClientID
    /// All scopes that the user has agreed to, space-separated, in the order of the agreements.
    public var scope: String
    public let createdAt: Moment
    /// Time at which the user last agreed.
    public var consentedAt: Moment
    /// The authorization moment of the latest token family or code. A revocation ends grants that are not
    /// younger.
    public var authorizedAt: Moment
    /// The `sub` of the Google account that was linked last by streamlined linking, or learned otherwise. For
    /// information only; no rule reads it, because each token family stores its own `sub`.
    public var googleSubject: String?
    /// Begin of the last day (UTC) on which the client got tokens; `nil` before the first tokens. A day and no
    /// moment, so that refreshes change the row once a day.
    public var lastUsedAt: Moment?

    public init(
        id: GrantID, accountID: AccountID, oauthClientID: OAuthClientID, clientID: ClientID, scope: String,
        createdAt: Moment, consentedAt: Moment, authorizedAt: Moment, googleSubject: String? = nil,
        lastUsedAt: Moment? = nil
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
        self.lastUsedAt = lastUsedAt
    }
}
