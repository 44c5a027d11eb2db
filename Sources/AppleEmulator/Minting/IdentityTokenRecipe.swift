/// An identity token to be minted. The empty recipe gives an honest one for the default user and client ID.
public struct IdentityTokenRecipe: Sendable {
    /// The `sub` of a user in any team; the default user when absent.
    public var subject: String?
    /// Any `aud`. Users of a client ID that is not configured have the `sub` of the first team.
    public var clientID: String?
    public var nonce: String?
    /// Brings `c_hash`. `/auth/token` takes it when the client ID is configured.
    public var authorizationCode = BoundSecret.none
    /// Binds the code to the web flow: it must then be exchanged with the same `redirect_uri`.
    public var redirectURI: String?
    /// Brings `at_hash`.
    public var accessToken = BoundSecret.none
    public var times = TokenTimes()
    /// `auth_time`; `iat` when absent, as from native apps.
    public var authenticatedAt: Int64?
    /// Whether Apple's `user` object comes along; only with the first authorization when absent.
    public var includesUser: Bool?
    public var forgery = Forgery()

    public init() {}
}
