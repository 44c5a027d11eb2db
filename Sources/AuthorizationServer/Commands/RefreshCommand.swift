public import AppleAccounts
public import Cryptography

/// A refresh token is used (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: PresentedRefreshToken
    /// The token that replaces the used one; `nil` for clients whose tokens are not rotated.
    public let successor: SuccessorToken?
    /// Requested scope, space-separated; `nil` for the whole scope of the token family.
    public let scope: String?
    /// The client's scopes in the configuration. A token for none of them is kept.
    public let clientScopes: ScopeSet
    /// End of the token family if the token is not used again.
    public let familyExpiresAt: Moment
    /// Milliseconds that a token family lasts from its beginning, however often it is used. `nil` is for
    /// ever.
    public let longestLine: Int64?
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        oauthClientID: OAuthClientID, presented: PresentedRefreshToken, successor: SuccessorToken?,
        scope: String?, clientScopes: ScopeSet, familyExpiresAt: Moment, longestLine: Int64? = nil,
        moment: Moment, origin: AuditOrigin = .current
    ) {
        self.oauthClientID = oauthClientID
        self.presented = presented
        self.successor = successor
        self.scope = scope
        self.clientScopes = clientScopes
        self.familyExpiresAt = familyExpiresAt
        self.longestLine = longestLine
        self.moment = moment
        self.origin = origin
    }

    /// The next refresh token, as a digest. Its text contains a generation: the generation after the
    /// presented token's. It serves a use in time as well as a retry after a lost response.
    public struct SuccessorToken: Sendable, Hashable {
        /// SHA-256 of the text of the next generation.
        public let digest: SHA256Digest

        public init(digest: SHA256Digest) { self.digest = digest }
    }
}
