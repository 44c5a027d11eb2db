public import AppleAccounts
public import Cryptography

/// A change of grants that one transaction carries out. Extensions of `GrantWorkingSet` have the rule of each.
public enum GrantCommand: Sendable, Hashable {
    case authorize(AuthorizeCommand)
    case redeem(RedeemCommand)
    case refresh(RefreshCommand)
    case revoke(RevokeCommand)
    case end(EndGrantCommand)
    case assertion(AssertionCommand)
    case googleEvent(GoogleEventCommand)
}

/// The person agreed: a code is written, with the grant if there is none.
public struct AuthorizeCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The ID of the grant if there is none yet.
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let codeDigest: SHA256Digest
    public let redirectURI: String
    public let challenge: CodeRecord.StoredChallenge?
    /// What the code gives, space-separated.
    public let scope: String
    public let nonce: String?
    public let authenticatedAt: Moment
    /// Past it the authentication is too old; `nil` without `max_authentication_age`.
    public let authenticatedAfter: Moment?
    public let isGoogle: Bool
    public let moment: Moment
    public let expiresAt: Moment

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        codeDigest: SHA256Digest, redirectURI: String, challenge: CodeRecord.StoredChallenge?, scope: String,
        nonce: String?, authenticatedAt: Moment, authenticatedAfter: Moment? = nil, isGoogle: Bool,
        moment: Moment, expiresAt: Moment
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
        self.isGoogle = isGoogle
        self.moment = moment
        self.expiresAt = expiresAt
    }
}

/// The new refresh token of a line that begins or goes on, as digests; the secrets are in the caller's hand.
public struct NewRefreshToken: Sendable, Hashable {
    public let lineSecretDigest: SHA256Digest
    public let digest: SHA256Digest
    public let doubleSHA512: [UInt8]?

    public init(lineSecretDigest: SHA256Digest, digest: SHA256Digest, doubleSHA512: [UInt8]? = nil) {
        self.lineSecretDigest = lineSecretDigest
        self.digest = digest
        self.doubleSHA512 = doubleSHA512
    }
}

/// The most lines with a refresh token. Beyond it the oldest ends.
public struct LineCeilings: Sendable, Hashable {
    /// For one OAuth client and account.
    public let perClient: Int
    /// For one account over all native clients; `nil` for other clients. A link with Google never counts.
    public let perAccount: Int?

    public init(perClient: Int, perAccount: Int?) {
        (self.perClient, self.perAccount) = (perClient, perAccount)
    }
}

/// A code is redeemed (RFC 6749 §4.1.3). The client is authenticated already.
public struct RedeemCommand: Sendable, Hashable {
    public let codeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    public let redirectURI: String
    /// As posted; `nil` without.
    public let codeVerifier: String?
    public let newLineID: UniqueID
    public let isNative: Bool
    /// `nil` when the client gets none, whatever the scope.
    public let refreshToken: NewRefreshToken?
    /// Whether `refreshToken` is given only with the scope `offline_access`.
    public let needsOfflineAccess: Bool
    /// When the line ends if its refresh token is not used.
    public let lineExpiresAt: Moment
    /// When the line ends if it has no refresh token: with its access token. `nil` is `lineExpiresAt`.
    public let accessTokenExpiresAt: Moment?
    public let ceilings: LineCeilings
    public let moment: Moment

    public init(
        codeDigest: SHA256Digest, oauthClientID: OAuthClientID, redirectURI: String, codeVerifier: String?,
        newLineID: UniqueID, isNative: Bool, refreshToken: NewRefreshToken?, needsOfflineAccess: Bool,
        lineExpiresAt: Moment, accessTokenExpiresAt: Moment? = nil, ceilings: LineCeilings, moment: Moment
    ) {
        self.codeDigest = codeDigest
        self.oauthClientID = oauthClientID
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.newLineID = newLineID
        self.isNative = isNative
        self.refreshToken = refreshToken
        self.needsOfflineAccess = needsOfflineAccess
        self.lineExpiresAt = lineExpiresAt
        self.accessTokenExpiresAt = accessTokenExpiresAt
        self.ceilings = ceilings
        self.moment = moment
    }
}

/// A refresh token is used (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: PresentedRefreshToken
    /// The token that takes its place; `nil` for clients whose tokens are not rotated.
    public let successor: SuccessorToken?
    /// Space-separated; `nil` for all of the line's.
    public let scope: String?
    /// When the line ends if it is not used again.
    public let lineExpiresAt: Moment
    /// For how long a line lasts from its beginning on, however often it is used, in milliseconds. `nil` is
    /// for ever.
    public let longestLine: Int64?
    public let moment: Moment

    public init(
        oauthClientID: OAuthClientID, presented: PresentedRefreshToken, successor: SuccessorToken?,
        scope: String?, lineExpiresAt: Moment, longestLine: Int64? = nil, moment: Moment
    ) {
        self.oauthClientID = oauthClientID
        self.presented = presented
        self.successor = successor
        self.scope = scope
        self.lineExpiresAt = lineExpiresAt
        self.longestLine = longestLine
        self.moment = moment
    }

    /// Its text has a generation in it: the one after that of the presented token, which serves a use in time
    /// as well as a lost answer.
    public struct SuccessorToken: Sendable, Hashable {
        /// SHA-256 of the text of generation `presented.generation + 1`.
        public let digest: SHA256Digest

        public init(digest: SHA256Digest) { self.digest = digest }
    }
}

/// What a refresh token says of itself, and its digest.
public struct PresentedRefreshToken: Sendable, Hashable {
    public let lineID: UniqueID
    public let lineSecretDigest: SHA256Digest
    public let generation: UInt32
    public let digest: SHA256Digest

    public init(lineID: UniqueID, lineSecretDigest: SHA256Digest, generation: UInt32, digest: SHA256Digest) {
        self.lineID = lineID
        self.lineSecretDigest = lineSecretDigest
        self.generation = generation
        self.digest = digest
    }
}

/// A client revokes a token (RFC 7009).
public struct RevokeCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    /// A refresh token, or the line of an access token whose signature was verified.
    public let token: Token
    public let moment: Moment

    public enum Token: Sendable, Hashable {
        case refresh(PresentedRefreshToken)
        case access(lineID: UniqueID)
    }

    public init(oauthClientID: OAuthClientID, token: Token, moment: Moment) {
        (self.oauthClientID, self.token, self.moment) = (oauthClientID, token, moment)
    }
}

/// A grant ends at the wish of the app's backend.
public struct EndGrantCommand: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    /// The apps that the caller may see.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment

    public init(
        grantID: GrantID, accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment
    ) {
        self.grantID = grantID
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
    }
}

/// Google's assertion gives tokens without a code (streamlined linking, intent `get`).
public struct AssertionCommand: Sendable, Hashable {
    public let accountID: AccountID
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let googleSubject: String
    public let scope: String
    public let newLineID: UniqueID
    public let refreshToken: NewRefreshToken
    public let ceilings: LineCeilings
    public let moment: Moment

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        googleSubject: String, scope: String, newLineID: UniqueID, refreshToken: NewRefreshToken,
        ceilings: LineCeilings, moment: Moment
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.googleSubject = googleSubject
        self.scope = scope
        self.newLineID = newLineID
        self.refreshToken = refreshToken
        self.ceilings = ceilings
        self.moment = moment
    }
}

/// A verified security event token of Google's.
public struct GoogleEventCommand: Sendable, Hashable {
    public let jti: String
    /// The whole token, kept for inspection.
    public let payload: [UInt8]
    public let changes: [Change]
    public let receivedAt: Moment

    /// For how long an event is kept, in milliseconds: 30 days.
    public static let keptFor: Int64 = 2_592_000_000
    /// The longest payload that a store takes, in bytes.
    public static let longestPayload = 65_536

    public enum Change: Sendable, Hashable {
        /// Sessions or all tokens of a Google account were revoked, or it was hijacked.
        case endGrants(googleSubject: String, upTo: Moment)
        /// One refresh token, found by all 64 bytes of its double SHA-512.
        case endToken(doubleSHA512: [UInt8])
        case disable(googleSubject: String, at: Moment)
        case enable(googleSubject: String, at: Moment)
        /// Kept, and nothing more.
        case other(type: String)
    }

    public init(jti: String, payload: [UInt8], changes: [Change], receivedAt: Moment) {
        self.jti = jti
        self.payload = payload
        self.changes = changes
        self.receivedAt = receivedAt
    }
}
