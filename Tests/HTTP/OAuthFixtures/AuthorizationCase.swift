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
