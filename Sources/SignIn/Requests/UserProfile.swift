/// What Apple gives the app once, at the person's first authorization, and what nobody signs.
public struct UserProfile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?
    public var email: String?

    public init(firstName: String? = nil, lastName: String? = nil, email: String? = nil) {
        (self.firstName, self.lastName, self.email) = (firstName, lastName, email)
    }
}
