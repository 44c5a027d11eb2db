/// One request to `/oauth/token`, and what must come of it.
struct TokenCase: Decodable, Sendable {
    let summary: String
    /// What the code, refresh token or assertion in the body is. `nil` when the request alone decides.
    let given: Given?
    let request: Request
    let expect: Expectation

    struct Given: Decodable {
        let code, refreshToken, assertion: String?
        let client, redirectUri, scope, nonce: String?
        let codeChallenge, codeChallengeMethod: String?
        /// What fits the challenge, where it is not that of RFC 7636.
        let codeVerifier: String?
        let credential, account: String?
    }

    struct Request: Decodable {
        let contentType, authorization, query: String?
        let body: String
    }

    struct Expectation: Decodable {
        let status: Int?
        let error: String?
        /// Whether the response names HTTP Basic in `WWW-Authenticate`.
        let wwwAuthenticate: Bool?
        /// What the request says, when it is right by itself.
        let grant: Grant?
        let tokens: [String]?
        let scope: String?
        let accessToken: AccessToken?
        let idToken: IDToken?
        /// The whole answer of Google's streamlined linking.
        let linking: [String: String]?
        let afterwards: Afterwards?
    }

    /// A member that the file does not name must be absent.
    struct Grant: Decodable, Equatable {
        var client, type: String
        var redirectUri, codeVerifier, scope, intent: String?
    }

    /// RFC 9068 §2.
    struct AccessToken: Decodable {
        let alg, aud, clientId: String
        let expiresIn: Int
        /// The names of all claims, sorted.
        let claims: [String]
    }

    /// OpenID Connect Core §2.
    struct IDToken: Decodable {
        let alg, aud: String
        let claims: [String]
    }

    /// `good`, `suspended`, `used` or `ended`.
    struct Afterwards: Decodable {
        let code, tokens: String?
    }
}
