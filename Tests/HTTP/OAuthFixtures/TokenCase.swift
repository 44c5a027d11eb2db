/// A request to `/oauth/token`, and its expected result.
struct TokenCase: Decodable, Sendable {
    let summary: String
    /// State of the code, refresh token, assertion, identity token or device code in the body; `nil` when the
    /// request alone decides.
    let given: Given?
    let request: Request
    let expect: Expectation

    struct Given: Decodable {
        let code, refreshToken, assertion, identity, device: String?
        let client, redirectUri, scope, nonce: String?
        let codeChallenge, codeChallengeMethod: String?
        /// Verifier for the challenge, unless it is the example of RFC 7636.
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
        /// Reason of a refusal, as the service logs and counts it.
        let reason: String?
        /// True if the response names HTTP Basic in `WWW-Authenticate`.
        let wwwAuthenticate: Bool?
        /// Parsed values of a request that is valid by itself.
        let grant: Grant?
        let tokens: [String]?
        let scope: String?
        let accessToken: AccessToken?
        let idToken: IDToken?
        /// The whole response to Google's streamlined linking.
        let linking: [String: String]?
        let afterwards: Afterwards?
    }

    /// A member that the file does not name must be absent.
    struct Grant: Decodable, Equatable {
        var client, type: String
        var redirectUri, codeVerifier, scope, intent: String?
    }

    /// Members of an access token (RFC 9068 §2).
    struct AccessToken: Decodable {
        let alg, aud, clientId: String
        let expiresIn: Int
        /// The names of all claims, sorted.
        let claims: [String]
    }

    /// Members of an ID token (OpenID Connect Core §2).
    struct IDToken: Decodable {
        let alg, aud: String
        let claims: [String]
    }

    /// State after the request: `good`, `suspended`, `used` or `ended`.
    struct Afterwards: Decodable {
        let code, tokens: String?
    }
}
