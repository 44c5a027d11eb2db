/// An authorization code that came with a sign-in, to be kept until it is exchanged.
public struct AuthorizationCodeOffer: Sendable {
    public let id: UniqueID
    /// The client ID that the code was issued to: the token's own `aud`.
    public let clientID: ClientID
    /// Only for a code of the web flow.
    public let redirectURI: String?
    /// By our clock. Apple takes a code for five minutes.
    public let expiresAt: Moment
    /// Seals the code for the account that it turns out to belong to. Called inside of the transaction, and
    /// can be called more than once.
    public let seal: @Sendable (AccountID) -> SealedSecret

    public init(
        id: UniqueID, clientID: ClientID, redirectURI: String? = nil, expiresAt: Moment,
        seal: @escaping @Sendable (AccountID) -> SealedSecret
    ) {
        self.id = id
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.expiresAt = expiresAt
        self.seal = seal
    }
}

extension AuthorizationCodeOffer: Hashable {
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.id == rhs.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
