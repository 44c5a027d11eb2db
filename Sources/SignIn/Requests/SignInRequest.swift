/// An identity token that shall sign its person in.
public struct SignInRequest: Sendable {
    public var token: IdentityTokenRequest
    /// The `redirect_uri` of the web flow, which Apple wants to see again when the code is exchanged. A native
    /// app has none.
    public var redirectURI: String?
    public var user: UserProfile?
    /// Whether an unknown person gets an account.
    public var createsAccount: Bool

    public init(
        token: IdentityTokenRequest, redirectURI: String? = nil, user: UserProfile? = nil,
        createsAccount: Bool = true
    ) {
        (self.token, self.redirectURI) = (token, redirectURI)
        (self.user, self.createsAccount) = (user, createsAccount)
    }
}
