/// An authorization code that came with a sign-in, to be kept until it is exchanged.
public struct AuthorizationCodeOffer: Sendable, Hashable {
    public let id: UniqueID
    /// The client ID that the code was issued to: the token's own `aud`.
    public let clientID: ClientID
    /// Only for a code of the web flow.
    public let redirectURI: String?
    /// By our clock. Apple accepts a code for five minutes.
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

/// An authorization code to be kept for an account. A store seals it when it writes its row, because only the
/// transaction knows the account.
public struct NewAuthorizationCode: Sendable, Hashable {
    public let offer: AuthorizationCodeOffer
    public let accountID: AccountID
    /// Primary client ID of the app that the client ID belongs to.
    public let primaryClientID: ClientID
    /// Authorization time of the identity token that came with the code.
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
