/// An authorization code that is waiting to be exchanged.
public struct AuthorizationCodeRecord: Sendable, Hashable {
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that the code was issued to.
    public let clientID: ClientID
    /// The app's primary client ID.
    public let primaryClientID: ClientID
    public let redirectURI: String?
    public let sealed: SealedSecret
    /// Authorization time from the identity token that came with the code.
    public let authorizedAt: Moment
    /// The code's arrival time. The exchange is due from then on.
    public let receivedAt: Moment
    public let expiresAt: Moment
    /// Number of claims so far.
    public var attempts: Int64
    /// Time of the next possible claim; during a claim, its expiry time.
    public var nextAttemptAt: Moment
    /// True during a claim, until the worker reports the result.
    public var isClaimed: Bool

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        redirectURI: String? = nil, sealed: SealedSecret, authorizedAt: Moment, receivedAt: Moment,
        expiresAt: Moment, attempts: Int64 = 0, nextAttemptAt: Moment, isClaimed: Bool = false
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.redirectURI = redirectURI
        self.sealed = sealed
        self.authorizedAt = authorizedAt
        self.receivedAt = receivedAt
        self.expiresAt = expiresAt
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.isClaimed = isClaimed
    }
}

/// A claimed authorization code. Only the claim holder exchanges it.
public struct ClaimedCode: Sendable, Hashable {
    public let record: AuthorizationCodeRecord
    public let key: SubjectKey
    /// True if an earlier claim ended without a result, so the
    /// code may have been sent to Apple and the response lost.
    public let isInterrupted: Bool

    public init(record: AuthorizationCodeRecord, key: SubjectKey, isInterrupted: Bool) {
        (self.record, self.key, self.isInterrupted) = (record, key, isInterrupted)
    }
}

/// An authorization code that came with a sign-in, to be kept until it is exchanged.
public struct AuthorizationCodeOffer: Sendable, Hashable {
    public let id: UniqueID
    /// The client ID that the code was issued to: the `aud` of the token itself.
    public let clientID: ClientID
    /// Redirect URI; only for web flow codes.
    public let redirectURI: String?
    /// Expiration time, by our clock. Apple accepts a code for five minutes.
    public let expiresAt: Moment
    public let secret: AppleTokenSecret

    public init(
        id: UniqueID, clientID: ClientID, redirectURI: String? = nil, expiresAt: Moment,
        secret: AppleTokenSecret
    ) {
        self.id = id
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.expiresAt = expiresAt
        self.secret = secret
    }
}

/// An authorization code to be stored for an account. Only the transaction knows the account, so the store
/// seals the code when it writes the row.
public struct NewAuthorizationCode: Sendable, Hashable {
    public let offer: AuthorizationCodeOffer
    public let accountID: AccountID
    /// The app's primary client ID.
    public let primaryClientID: ClientID
    /// Authorization time from the identity token that came with the code.
    public let authorizedAt: Moment
    /// Time of the first possible claim.
    public let nextAttemptAt: Moment

    public init(
        _ offer: AuthorizationCodeOffer, accountID: AccountID, primaryClientID: ClientID,
        authorizedAt: Moment, nextAttemptAt: Moment
    ) {
        self.offer = offer
        self.accountID = accountID
        self.primaryClientID = primaryClientID
        self.authorizedAt = authorizedAt
        self.nextAttemptAt = nextAttemptAt
    }

    public var id: UniqueID { offer.id }
}
