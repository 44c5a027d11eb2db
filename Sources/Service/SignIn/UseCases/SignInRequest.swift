/// An identity token with which a user signs in.
public struct SignInRequest: Sendable {
    public var token: IdentityTokenRequest
    /// The `redirect_uri` of the web flow, which Apple requires again when the code is exchanged. A native
    /// app has none.
    public var redirectURI: String?
    public var user: UserProfile?
    /// True if an unknown user gets an account.
    public var createsAccount: Bool

    public init(
        token: IdentityTokenRequest, redirectURI: String? = nil, user: UserProfile? = nil,
        createsAccount: Bool = true
    ) {
        (self.token, self.redirectURI) = (token, redirectURI)
        (self.user, self.createsAccount) = (user, createsAccount)
    }
}

/// An identity token, and the caller's facts about the sign-in that the token must match.
public struct IdentityTokenRequest: Sendable {
    public var identityToken: String
    /// The raw nonce, before the client hashed it.
    public var nonce: String?
    /// Narrows the accepted audience, and never widens it.
    public var clientID: String?
    public var authorizationCode: String?
    public var accessToken: String?
    /// Statements about the app. Only the calls that judge the app read it.
    public var evidence: AppEvidence

    public init(
        identityToken: String, nonce: String? = nil, clientID: String? = nil,
        authorizationCode: String? = nil,
        accessToken: String? = nil, evidence: AppEvidence = AppEvidence()
    ) {
        self.identityToken = identityToken
        self.nonce = nonce
        self.clientID = clientID
        self.authorizationCode = authorizationCode
        self.accessToken = accessToken
        self.evidence = evidence
    }
}

/// The user's profile, which Apple sends to the app once, at the user's first authorization. It is not
/// signed.
public struct UserProfile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?
    public var email: String?
    /// The members that were dropped or cut: `user.name`, `user.email`; `user` for all of it.
    public internal(set) var dropped: [String] = []

    public init(firstName: String? = nil, lastName: String? = nil, email: String? = nil) {
        (self.firstName, self.lastName, self.email) = (firstName, lastName, email)
    }
}
