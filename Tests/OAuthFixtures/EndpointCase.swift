/// One request to the revocation, introspection or userinfo endpoint, or for a document of metadata, and what
/// must come of it.
struct EndpointCase: Decodable, Sendable {
    let summary: String
    /// What the tokens in the request are, in the words of token requests.
    let given: TokenCase.Given?
    let request: Request
    let expect: Expectation

    struct Request: Decodable {
        let method, path: String
        let query, contentType, authorization, body: String?
        /// `all`, the app that the API key is for, or `unknown`. It is sent as a bearer token.
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
