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
