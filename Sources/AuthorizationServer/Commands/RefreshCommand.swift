public import AppleAccounts
public import Cryptography

/// A refresh token is used (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: PresentedRefreshToken
    /// The token that takes its place; `nil` for clients whose tokens are not rotated.
    public let successor: SuccessorToken?
    /// Space-separated; `nil` for all of the line's.
    public let scope: String?
    /// What the configuration gives the client now. A token for none of these is kept.
    public let clientScopes: ScopeSet
    /// When the line ends if it is not used again.
    public let lineExpiresAt: Moment
    /// For how long a line lasts from its beginning on, however often it is used, in milliseconds. `nil` is
    /// for ever.
    public let longestLine: Int64?
    public let moment: Moment

    public init(
        oauthClientID: OAuthClientID, presented: PresentedRefreshToken, successor: SuccessorToken?,
        scope: String?, clientScopes: ScopeSet, lineExpiresAt: Moment, longestLine: Int64? = nil,
        moment: Moment
    ) {
        self.oauthClientID = oauthClientID
        self.presented = presented
        self.successor = successor
        self.scope = scope
        self.clientScopes = clientScopes
        self.lineExpiresAt = lineExpiresAt
        self.longestLine = longestLine
        self.moment = moment
    }

    /// Its text has a generation in it: the one after that of the presented token, which serves a use in time
    /// as well as a lost answer.
    public struct SuccessorToken: Sendable, Hashable {
        /// SHA-256 of the text of the next generation.
        public let digest: SHA256Digest

        public init(digest: SHA256Digest) { self.digest = digest }
    }
}
