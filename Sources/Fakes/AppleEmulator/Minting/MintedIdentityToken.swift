/// An identity token, and the other values that a client receives with the token.
public struct MintedIdentityToken: Sendable {
    public let identityToken: String
    public let subject: String
    public let clientID: String
    public let nonce: String?
    public let authorizationCode: String?
    public let accessToken: String?
    /// Apple's unsigned `user` object, which clients get only at the first authorization.
    public let user: FirstTimeUser?
}

/// The `user` object that Apple gives to the client at the first authorization. Not signed.
public struct FirstTimeUser: Sendable, Equatable {
    public let firstName: String?
    public let lastName: String?
    public let email: String?

    init(_ user: EmulatedUser, shownTo identity: TeamIdentity) {
        (firstName, lastName, email) = (user.firstName, user.lastName, user.shownEmail(to: identity))
    }
}
