public import AppleAccounts
public import Cryptography

/// What one code or assertion gave: a refresh token that may have successors, and access tokens.
///
/// A refresh token has the ID of its line, a secret of the line, a generation and a secret of its own. So an
/// old token of the line is recognized without a row for each rotation: the line's secret fits, the rest
/// does not.
public struct TokenLine: Sendable, Hashable {
    public let id: UniqueID
    public let grantID: GrantID
    /// Whether the OAuth client is a native app. The account's ceiling counts these.
    public let isNative: Bool
    /// Space-separated.
    public let scope: String
    /// The person's authentication, `auth_time` of ID tokens.
    public let authenticatedAt: Moment
    /// The credential's authorization moment when the line began.
    public let authorizedAt: Moment
    public let createdAt: Moment
    /// From then on nothing of the line is good. `Moment.last` for a line without an end.
    public var expiresAt: Moment
    /// `nil` for a line that has access tokens only.
    public var refreshToken: RefreshTokenState?
    /// The `sub` of the Google account whose assertion gave the line; `nil` for a line of a code. A person
    /// may link several Google accounts, and an event about one of them ends its own lines alone.
    public let googleSubject: String?

    public init(
        id: UniqueID, grantID: GrantID, isNative: Bool, scope: String, authenticatedAt: Moment,
        authorizedAt: Moment, createdAt: Moment, expiresAt: Moment, refreshToken: RefreshTokenState?,
        googleSubject: String? = nil
    ) {
        self.id = id
        self.grantID = grantID
        self.isNative = isNative
        self.scope = scope
        self.authenticatedAt = authenticatedAt
        self.authorizedAt = authorizedAt
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
        self.googleSubject = googleSubject
    }
}

/// What is kept of a line's refresh tokens.
public struct RefreshTokenState: Sendable, Hashable {
    /// SHA-256 of the secret that all tokens of the line share.
    public let lineSecretDigest: SHA256Digest
    /// SHA-256 of the text of the current token.
    public var digest: SHA256Digest
    /// How often the token was rotated; 0 for the first. For operators: no rule reads it, because a token is
    /// judged by its digest alone, which covers the generation in its text.
    public var generation: UInt32
    /// SHA-256 of the token before, and when it was exchanged for the current one.
    public var previous: Previous?
    /// SHA-512 of SHA-512 of the text of the current token, for what Google is told. `nil` for clients that
    /// are not Google's.
    public var doubleSHA512: SHA512Digest?

    public struct Previous: Sendable, Hashable {
        public let digest: SHA256Digest
        public let rotatedAt: Moment

        public init(digest: SHA256Digest, rotatedAt: Moment) {
            (self.digest, self.rotatedAt) = (digest, rotatedAt)
        }
    }

    public init(
        lineSecretDigest: SHA256Digest, digest: SHA256Digest, generation: UInt32 = 0,
        previous: Previous? = nil, doubleSHA512: SHA512Digest? = nil
    ) {
        self.lineSecretDigest = lineSecretDigest
        self.digest = digest
        self.generation = generation
        self.previous = previous
        self.doubleSHA512 = doubleSHA512
    }
}
