/// The `user` object that Apple gives to the client at the first authorization. It is not signed.
public struct FirstTimeUser: Sendable, Equatable {
    public let firstName: String?
    public let lastName: String?
    public let email: String?

    init(_ user: EmulatedUser, shownTo identity: TeamIdentity) {
        (firstName, lastName, email) = (user.firstName, user.lastName, user.shownEmail(to: identity))
    }
}
