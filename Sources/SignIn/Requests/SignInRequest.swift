/// An identity token that shall sign its person in.
public struct SignInRequest: Sendable {
    public var token: IdentityTokenRequest
    public var user: UserProfile?
    /// Whether an unknown person gets an account.
    public var createsAccount: Bool

    public init(token: IdentityTokenRequest, user: UserProfile? = nil, createsAccount: Bool = true) {
        (self.token, self.user, self.createsAccount) = (token, user, createsAccount)
    }
}
