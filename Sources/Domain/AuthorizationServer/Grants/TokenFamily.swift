public import AppleAccounts
public import Cryptography
import Encodings

/// The tokens issued for one code or assertion: access tokens, and possibly a refresh token with its
/// successors.
///
/// A refresh token contains the ID of its family, a family secret, a generation and its own secret. Old
/// tokens can therefore be recognized without a row for each rotation: their family secret matches, but the
/// other values do not.
public struct TokenFamily: Sendable, Hashable {
    public let id: UniqueID
    public let grantID: GrantID
    /// True if the OAuth client is a native app, whose token families count towards the account's limit.
    public let isNative: Bool
    /// Scope, space-separated.
    public let scope: String
    /// The time of the user's authentication: the `auth_time` of ID tokens.
    public let authenticatedAt: Moment
    /// The credential's authorization moment when the token family began.
    public let authorizedAt: Moment
    public let createdAt: Moment
    /// From this moment on, none of the family's tokens is valid. `Moment.last` if the family never expires.
    public var expiresAt: Moment
    /// The refresh token. `nil` if the family has only access tokens.
    public var refreshToken: RefreshTokenState?
    /// The `sub` of the Google account whose assertion began the token family. For a family that began with a
    /// code, it is `nil` until the `sub` is learned. A user may link several Google accounts, and an event
    /// about one of them ends only its own families.
    public var googleSubject: String?
    /// True if the `sub` was learned from a later statement by Google about the same grant. Google's events
    /// can then end the family, but the family gives the Google account no access to the user's account.
    public var isGoogleSubjectLearned: Bool

    public init(
        id: UniqueID, grantID: GrantID, isNative: Bool, scope: String, authenticatedAt: Moment,
        authorizedAt: Moment, createdAt: Moment, expiresAt: Moment, refreshToken: RefreshTokenState?,
        googleSubject: String? = nil, isGoogleSubjectLearned: Bool = false
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
        self.isGoogleSubjectLearned = isGoogleSubjectLearned
    }
}

extension TokenFamily {
    /// Time from which the family counts as linked with its Google account.
    var linkedAt: Moment { isGoogleSubjectLearned ? createdAt : authenticatedAt }

    /// Returns true if the family is linked with this Google account. The comparison uses bytes, as the
    /// databases do.
    func isLinked(with googleSubject: String) -> Bool {
        self.googleSubject?.isByteEqual(to: googleSubject) ?? false
    }
}

/// The stored state of a token family's refresh token.
public struct RefreshTokenState: Sendable, Hashable {
    /// SHA-256 of the secret shared by all tokens of the family.
    public let familySecretDigest: SHA256Digest
    /// SHA-256 of the current token's text.
    public var digest: SHA256Digest
    /// The number of rotations, 0 for the first token. It only informs operators: no rule reads it, because a
    /// token's digest covers the generation in its text.
    public var generation: UInt32
    /// The predecessors of the current token, latest first, at most four. All but the first are kept only
    /// while the client may still repeat their exchange.
    public var exchanged: [ExchangedToken]
    /// Double SHA-512 of the current token's text, for notifications to Google. `nil` for every client except
    /// Google.
    public var doubleSHA512: SHA512Digest?

    /// A token that the client has exchanged for its successor.
    public struct ExchangedToken: Sendable, Hashable {
        public let digest: SHA256Digest
        /// The time of the first exchange.
        public let moment: Moment
        /// The salt. The successor is derived from it and from the token's text. `nil` once no permitted
        /// repetition needs it, or if an earlier service version exchanged the token.
        public var salt: [UInt8]?

        public init(digest: SHA256Digest, moment: Moment, salt: [UInt8]?) {
            (self.digest, self.moment, self.salt) = (digest, moment, salt)
        }
    }

    public init(
        familySecretDigest: SHA256Digest, digest: SHA256Digest, generation: UInt32 = 0,
        exchanged: [ExchangedToken] = [], doubleSHA512: SHA512Digest? = nil
    ) {
        self.familySecretDigest = familySecretDigest
        self.digest = digest
        self.generation = generation
        self.exchanged = exchanged
        self.doubleSHA512 = doubleSHA512
    }
}
