public import AppleAccounts

/// A refresh token is used (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: RefreshTokenText
    /// `nil` for clients whose tokens are not rotated.
    public let rotation: Rotation?
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
        oauthClientID: OAuthClientID, presented: RefreshTokenText, rotation: Rotation?,
        scope: String?, clientScopes: ScopeSet, familyExpiresAt: Moment, longestLine: Int64? = nil,
        moment: Moment, origin: AuditOrigin = .current
    ) {
        self.oauthClientID = oauthClientID
        self.presented = presented
        self.rotation = rotation
        self.scope = scope
        self.clientScopes = clientScopes
        self.familyExpiresAt = familyExpiresAt
        self.longestLine = longestLine
        self.moment = moment
        self.origin = origin
    }

    /// Values for the exchange of a token for its successor.
    public struct Rotation: Sendable, Hashable {
        /// 32 random bytes, from which the successor follows if this is the first exchange of the token. In the
        /// command, so that a transaction that runs twice has the same result.
        public let salt: [UInt8]
        /// Milliseconds since its first exchange in which a token may be exchanged again.
        public let retryWindow: Int64

        public init(salt: [UInt8], retryWindow: Int64) {
            (self.salt, self.retryWindow) = (salt, retryWindow)
        }
    }
}
