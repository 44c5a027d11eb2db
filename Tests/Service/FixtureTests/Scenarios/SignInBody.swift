import SignIn

/// The posted body of a sign-in or a verification.
struct SignInBody: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case nonce, user, create
        case identityToken = "identity_token"
        case clientID = "client_id"
        case authorizationCode = "authorization_code"
        case accessToken = "access_token"
    }

    /// Apple's own object.
    struct User: Decodable {
        struct Name: Decodable {
            let firstName, lastName: String?
        }

        let name: Name?
        let email: String?
    }

    let identityToken: String
    let nonce, clientID, authorizationCode, accessToken: String?
    let user: User?
    let create: Bool?

    var tokenRequest: IdentityTokenRequest {
        IdentityTokenRequest(
            identityToken: identityToken, nonce: nonce, clientID: clientID,
            authorizationCode: authorizationCode,
            accessToken: accessToken)
    }

    var signInRequest: SignInRequest {
        SignInRequest(
            token: tokenRequest,
            user: user.map {
                UserProfile(firstName: $0.name?.firstName, lastName: $0.name?.lastName, email: $0.email)
            },
            createsAccount: create ?? true)
    }
}
