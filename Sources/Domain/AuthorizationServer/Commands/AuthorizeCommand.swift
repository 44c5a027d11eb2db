public import AppleAccounts
public import Cryptography

/// The user agreed: a code is written, and the grant if there is none.
public struct AuthorizeCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The ID of the grant if the grant is new.
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let codeDigest: SHA256Digest
    public let redirectURI: String
    public let challenge: CodeRecord.StoredChallenge?
    /// The scope of the code, space-separated.
    public let scope: String
    public let nonce: String?
    public let authenticatedAt: Moment
    /// Earliest permitted authentication; `nil` without `max_authentication_age`.
    public let authenticatedAfter: Moment?
    public let moment: Moment
    public let expiresAt: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        codeDigest: SHA256Digest, redirectURI: String, challenge: CodeRecord.StoredChallenge?, scope: String,
        nonce: String?, authenticatedAt: Moment, authenticatedAfter: Moment? = nil,
        moment: Moment, expiresAt: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.codeDigest = codeDigest
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.scope = scope
        self.nonce = nonce
        self.authenticatedAt = authenticatedAt
        self.authenticatedAfter = authenticatedAfter
        self.moment = moment
        self.expiresAt = expiresAt
        self.origin = origin
    }
}
