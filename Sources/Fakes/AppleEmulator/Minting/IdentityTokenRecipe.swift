/// The content of an identity token to mint. The default gives a valid token for the default user and client
/// ID.
public struct IdentityTokenRecipe: Sendable {
    /// The `sub` of a user for any team. Default: the default user.
    public var subject: String?
    /// Any `aud`. For a client ID that is not configured, the token has the `sub` of the first team.
    public var clientID: String?
    public var nonce: String?
    /// Adds `c_hash`. `/auth/token` accepts the code when the client ID is configured.
    public var authorizationCode = BoundSecret.none
    /// Binds the code to the web flow: the exchange then needs the same `redirect_uri`.
    public var redirectURI: String?
    /// Adds `at_hash`.
    public var accessToken = BoundSecret.none
    public var times = TokenTimes()
    /// `auth_time`. Default: `iat`, as in native apps.
    public var authenticatedAt: Int64?
    /// True if the result has Apple's `user` object. Default: only at the first authorization.
    public var includesUser: Bool?
    public var forgery = Forgery()

    public init() {}
}
