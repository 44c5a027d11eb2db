public import AppleAccounts
public import Cryptography
import Encodings

/// The tokens issued for one code or assertion: access tokens, and possibly a refresh token with successors.
///
/// A refresh token has the ID of its token family, a secret of the family, a generation and its own
/// secret. So an old token of the family is recognized without a row for each rotation: the
/// family's secret matches, the other values do not.
public struct TokenFamily: Sendable, Hashable {
    public let id: UniqueID
    public let grantID: GrantID
    /// True if the OAuth client is a native app. The account's limit counts these token families.
    public let isNative: Bool
    /// Scope, space-separated.
    public let scope: String
    /// Time of the user's authentication, `auth_time` of ID tokens.
    public let authenticatedAt: Moment
    /// The credential's authorization moment when the token family began.
    public let authorizedAt: Moment
    public let createdAt: Moment
    /// Moment from which no token of the token family is valid. `Moment.last` for a family without an end.
    public var expiresAt: Moment
    /// The refresh token; `nil` for a token family with access tokens only.
    public var refreshToken: RefreshTokenState?
    /// The `sub` of the Google account whose assertion began the token family. A family of a code
    /// has `nil` until the `sub` is learned. A user may link several Google accounts, and an event
    /// about one of them ends only its own families.
    public var googleSubject: String?
    /// True if a later statement of Google about the same grant contained the `sub`. Google's events then end
    /// the family, but it leads no Google account to the account.
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
    /// Time since which the family is linked with its Google account.
    var linkedAt: Moment { isGoogleSubjectLearned ? createdAt : authenticatedAt }

    /// Returns true if the family is linked with this Google account. Compares bytes, as the databases do.
    func isLinked(with googleSubject: String) -> Bool {
        self.googleSubject?.isByteEqual(to: googleSubject) ?? false
    }
}

/// The stored state of a token family's refresh token.
public struct RefreshTokenState: Sendable, Hashable {
    /// SHA-256 of the secret that all tokens of the token family share.
    public let familySecretDigest: SHA256Digest
    /// SHA-256 of the text of the current token.
    public var digest: SHA256Digest
    /// Number of rotations; 0 for the first token. It only informs operators: no rule reads the number,
    /// because the digest of a token decides, which covers the generation in its text.
    public var generation: UInt32
    /// The tokens before the current token, the latest first: at most four. After the
    /// first, only tokens that may still be repeated.
    public var exchanged: [ExchangedToken]
    /// SHA-512 of SHA-512 of the text of the current token, for notifications to Google. `nil` for clients
    /// other than Google.
    public var doubleSHA512: SHA512Digest?

    /// A token that was exchanged for its successor.
    public struct ExchangedToken: Sendable, Hashable {
        public let digest: SHA256Digest
        /// Time of the first exchange.
        public let moment: Moment
        /// Salt: the successor is derived from the token's text and these bytes. `nil`
        /// when no exchange can be repeated with them any more, and for a token that an
        /// earlier version of the service has exchanged.
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
