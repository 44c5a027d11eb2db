/// A code or token of an erased account, on its way to be revoked at Apple.
public struct ErasureGrant: Sendable, Hashable {
    /// What is to be done next.
    public enum Step: Sendable, Hashable {
        /// The code is to be exchanged, because only a token can be revoked.
        case exchange
        case revoke
        /// A refresh with the token must be refused.
        case prove
        case done(ErasureOutcome)
    }

    /// Of the code or token that it was.
    public let id: UniqueID
    /// The client ID that it was issued to.
    public let clientID: ClientID
    /// Of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    public var kind: SealedPurpose
    public var step: Step
    /// How often it has been claimed since the erasure.
    public var attempts: Int64
    /// When it may be claimed: while it is claimed, when that claim ends by itself.
    public var nextAttemptAt: Moment
    /// Whether it is claimed: a worker took it and has not reported the result.
    public var isClaimed: Bool
    /// The most characters that a cause may have.
    public static let longestCause = 64

    /// Apple's error or our own code for what went wrong last. Not empty, and at most `longestCause`
    /// characters.
    public var cause: String?
    /// `nil` once it is done.
    public var sealed: SealedSecret?
    /// Only for a code of the web flow.
    public let redirectURI: String?
    /// Only for a code: when Apple no longer takes it.
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

extension ErasureGrant {
    init(_ token: RefreshTokenRecord, at moment: Moment) {
        self.init(
            id: token.id, clientID: token.clientID, primaryClientID: token.primaryClientID,
            kind: .refreshToken, step: .revoke, nextAttemptAt: moment, sealed: token.sealed)
    }

    /// A code that is just being exchanged stays claimed, so that it is not sent a second time.
    init(_ code: AuthorizationCodeRecord, at moment: Moment) {
        self.init(
            id: code.id, clientID: code.clientID, primaryClientID: code.primaryClientID,
            kind: .authorizationCode, step: .exchange,
            nextAttemptAt: code.isClaimed ? code.nextAttemptAt : moment, isClaimed: code.isClaimed,
            sealed: code.sealed, redirectURI: code.redirectURI, expiresAt: code.expiresAt)
    }
}

/// The outcome of one grant of an erased account.
public enum ErasureOutcome: String, Sendable, Hashable, CaseIterable {
    /// Apple revoked it, and then refused it.
    case provenRevoked = "revoked_and_proven"
    /// It could not be revoked, or the revocation could not be proven. The cause of the grant says why.
    case notRevoked = "not_revoked"
}
