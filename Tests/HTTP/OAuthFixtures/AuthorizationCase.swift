/// A request to `/oauth/authorize`, and its expected result.
struct AuthorizationCase: Decodable, Sendable {
    let summary: String
    let request: Request
    let expect: Expectation

    struct Request: Decodable {
        let method: String
        let query, form, userAgent, acceptLanguage: String?
    }

    struct Expectation: Decodable {
        let page: Page?
        let redirect: Redirect?
        let proceed: Proceed?
    }

    struct Page: Decodable {
        let status: Int
        let error: String
    }

    struct Redirect: Decodable {
        /// The redirect URI, to which only parameters are added.
        let uri: String
        let error: String
        /// Value of `state` as in the query.
        let state: String?
        let iss: String?
    }

    /// A member that the file does not name must be absent.
    struct Proceed: Decodable, Equatable {
        var client, redirectUri, scope: String
        var state, codeChallenge, codeChallengeMethod, nonce, loginHint: String?
        var prompt: [String]?
        var maxAge: Int64?
        var language: String
    }
}

/// A request to the revocation, introspection or userinfo endpoint, or for a metadata document, and its
/// expected result.
struct EndpointCase: Decodable, Sendable {
    let summary: String
    /// State of the tokens in the request, in the words of token cases.
    let given: TokenCase.Given?
    let request: Request
    let expect: Expectation

    struct Request: Decodable {
        let method, path: String
        let query, contentType, authorization, body: String?
        /// API key, sent as a bearer token: `all`, the app of the key, or `unknown`.
        let apiKey: String?
    }

    struct Expectation: Decodable {
        let status: Int
        let error: String?
        let wwwAuthenticate: Challenge?
        /// Parts of the values of header fields.
        let headers: [String: String]
        /// All members of the response.
        let members: [String: FixtureValue]?
        let afterwards: TokenCase.Afterwards?
    }

    /// The field `WWW-Authenticate`, without `realm` and `charset`. A member that the file does not name must
    /// be absent.
    struct Challenge: Decodable {
        let scheme: String
        let error, scope: String?
    }
}

/// A call of `POST /v1/oauth/app-flip` or of its prompt, and the expected result.
struct AppFlipCase: Decodable, Sendable {
    let summary: String
    /// The apps of the API key; `nil` for all apps.
    let caller: [String]?
    let given: Given?
    let call: Call
    let expect: Expectation

    struct Given: Decodable {
        /// Result of checking the identity.
        let identity: String
    }

    struct Call: Decodable {
        let clientId, redirectUri, state, scope, codeChallenge, codeChallengeMethod, userLocale: String?
        let acceptLanguage: String?
        let decision, grantedScopes, identityToken, nonce, accountId, authenticatedAt: String?
    }

    struct Expectation: Decodable {
        let status: Int
        /// Code of an error of the interface.
        let code: String?
        let outcome: String?
        let redirect: Redirect?
        /// Scope of the tokens for the code.
        let scope: String?
        /// `auth_time` of the tokens for the code, as seconds before the call.
        let authenticatedSecondsAgo: Int?
        /// Language of the message for the user.
        let language: String?
        /// Contents of the sheet.
        let prompt: Prompt?
        /// True if a new sign-in makes linking possible.
        let signInAgain: Bool?
    }

    struct Prompt: Decodable {
        let language, scope: String
        let optional: String?
    }

    struct Redirect: Decodable {
        let uri: String
        let error, state: String?
    }
}

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
