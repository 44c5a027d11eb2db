/// Completed and remaining steps of an erasure. No member identifies the user.
public struct ErasureRecord: Sendable, Hashable {
    public let id: ErasureID
    public let accountID: AccountID
    public let team: TeamID
    public let requestedAt: Moment
    /// The service sends no requests to Apple after this time.
    public let deadline: Moment
    /// Time when the last Apple code or token was handled; the erasure time if there was none.
    public var finishedAt: Moment?
    /// Apps, sorted by the bytes of their primary client IDs.
    public let apps: [ErasedApp]
    /// Codes and tokens, sorted by ID.
    public var tokens: [ErasureToken]

    public init(
        id: ErasureID, accountID: AccountID, team: TeamID, requestedAt: Moment, deadline: Moment,
        finishedAt: Moment? = nil, apps: [ErasedApp], tokens: [ErasureToken]
    ) {
        self.id = id
        self.accountID = accountID
        self.team = team
        self.requestedAt = requestedAt
        self.deadline = deadline
        self.finishedAt = finishedAt
        self.apps = apps
        self.tokens = tokens
    }
}

/// Facts about one app at the time the account was erased.
public struct ErasedApp: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// True if a refresh token was held.
    public let hadToken: Bool
    public let stateBefore: CredentialState
    public let reasonBefore: CredentialReason?
    /// Reason why no token was held, although a code had arrived.
    public let refreshTokenCause: RefreshTokenCause?

    public init(
        clientID: ClientID, hadToken: Bool, stateBefore: CredentialState,
        reasonBefore: CredentialReason? = nil,
        refreshTokenCause: RefreshTokenCause? = nil
    ) {
        self.clientID = clientID
        self.hadToken = hadToken
        self.stateBefore = stateBefore
        self.reasonBefore = reasonBefore
        self.refreshTokenCause = refreshTokenCause
    }
}

/// An erased account's code or token, which must be revoked at Apple.
public struct ErasureToken: Sendable, Hashable {
    /// The next step.
    public enum Step: Sendable, Hashable {
        /// The code must be exchanged, because only a token can be revoked.
        case exchange
        case revoke
        /// The service must prove the revocation by a refresh request that Apple refuses.
        case prove
        case done(ErasureOutcome)
    }

    /// The ID that the code or token had before the erasure.
    public let id: UniqueID
    /// The client ID that the code or token was issued to.
    public let clientID: ClientID
    /// The app's primary client ID.
    public let primaryClientID: ClientID
    public var kind: SealedPurpose
    public var step: Step
    /// Number of claims since the erasure.
    public var attempts: Int64
    /// Time of the next possible claim; during a claim, its expiry time.
    public var nextAttemptAt: Moment
    /// True during a claim, until the worker reports the result.
    public var isClaimed: Bool
    /// Maximum length of a cause, in characters.
    public static let longestCause = 64

    /// Cause of the last failure: Apple's error code or our own, not empty, and at most `longestCause`
    /// characters.
    public var cause: String?
    /// The sealed code or token; `nil` after the last step.
    public var sealed: SealedSecret?
    /// Redirect URI; only for web flow codes.
    public let redirectURI: String?
    /// Time from which Apple refuses the code; only for codes.
    public let expiresAt: Moment?

    public init(
        id: UniqueID, clientID: ClientID, primaryClientID: ClientID, kind: SealedPurpose, step: Step,
        attempts: Int64 = 0, nextAttemptAt: Moment, isClaimed: Bool = false, cause: String? = nil,
        sealed: SealedSecret?, redirectURI: String? = nil, expiresAt: Moment? = nil
    ) {
        self.id = id
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.kind = kind
        self.step = step
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.isClaimed = isClaimed
        self.cause = cause
        self.sealed = sealed
        self.redirectURI = redirectURI
        self.expiresAt = expiresAt
    }

    public var isDone: Bool {
        if case .done = step { true } else { false }
    }
}

extension ErasureToken {
    init(_ token: RefreshTokenRecord, at moment: Moment) {
        self.init(
            id: token.id, clientID: token.clientID, primaryClientID: token.primaryClientID,
            kind: .refreshToken, step: .revoke, nextAttemptAt: moment, sealed: token.sealed)
    }

    /// Creates the entry for a code. If its exchange is running,
    /// the code stays claimed, so that it is not sent twice.
    init(_ code: AuthorizationCodeRecord, at moment: Moment) {
        self.init(
            id: code.id, clientID: code.clientID, primaryClientID: code.primaryClientID,
            kind: .authorizationCode, step: .exchange,
            nextAttemptAt: code.isClaimed ? code.nextAttemptAt : moment, isClaimed: code.isClaimed,
            sealed: code.sealed, redirectURI: code.redirectURI, expiresAt: code.expiresAt)
    }
}

/// The outcome for an erased account's Apple code or token.
public enum ErasureOutcome: String, Sendable, Hashable, CaseIterable {
    /// Apple revoked the token, and then refused it.
    case provenRevoked = "revoked_and_proven"
    /// The token could not be revoked, or its revocation could not be proven; `cause` has the reason.
    case notRevoked = "not_revoked"
}

/// A claimed Apple code or token of an erased account. Only the claim holder works on it.
public struct ClaimedErasureToken: Sendable, Hashable {
    public let erasureID: ErasureID
    public let accountID: AccountID
    public let team: TeamID
    public let deadline: Moment
    public let token: ErasureToken
    /// True if an earlier claim ended without a result, so that its step may already have happened.
    public let isInterrupted: Bool

    public init(
        erasureID: ErasureID, accountID: AccountID, team: TeamID, deadline: Moment, token: ErasureToken,
        isInterrupted: Bool
    ) {
        self.erasureID = erasureID
        self.accountID = accountID
        self.team = team
        self.deadline = deadline
        self.token = token
        self.isInterrupted = isInterrupted
    }
}
