import AppleAccounts
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct TokenQuestionTests {
    private func ask(
        _ endpoint: TokenQuestion.Endpoint, _ body: String, authorization: String? = nil,
        contentType: String? = "application/x-www-form-urlencoded", hasAPIKey: Bool = false,
        query: String? = nil
    ) throws -> (TokenQuestion, OAuthClient?) {
        let question = try TokenQuestion(
            endpoint, body: body.utf8, contentType: contentType, authorization: authorization,
            hasAPIKey: hasAPIKey, query: query?.utf8)
        return (question, try question.client(in: try OAuthSettings.sample().clients))
    }

    private func refusal(_ endpoint: TokenQuestion.Endpoint, _ body: String) throws -> TokenEndpointError {
        try #require(throws: TokenEndpointError.self) { try ask(endpoint, body) }
    }

    @Test func `a public client revokes with its ID alone`() throws {
        let (question, client) = try ask(.revocation, "client_id=desktop&token=abc")
        #expect(client?.id.rawValue == "desktop")
        #expect(question.token == "abc")
        #expect(question.hint == nil)
    }

    @Test func `a token that is too long to be ours is an unknown one, not an error`() throws {
        let long = String(repeating: "x", count: 8193)
        for endpoint in [TokenQuestion.Endpoint.revocation, .introspection] {
            let body = "client_id=shop&client_secret=shop-secret&token=\(long)"
            #expect(try ask(endpoint, body).0.token == "")
            #expect(try ask(endpoint, String(body.dropLast())).0.token.count == 8192)
        }
    }

    @Test(
        arguments: [
            ("access_token", TokenQuestion.Hint.accessToken), ("refresh_token", .refreshToken),
            ("pct_token", nil),
            ("%zz", nil),
        ] as [(String, TokenQuestion.Hint?)])
    func `an unknown hint is ignored`(hint: String, expected: TokenQuestion.Hint?) throws {
        let body = "client_id=desktop&token=abc&token_type_hint=\(hint)"
        #expect(try ask(.revocation, body).0.hint == expected)
    }

    @Test(arguments: [
        "token=abc", "client_id=&token=abc", "client_id=desktop", "client_id=desktop&token=",
        "client_id=desktop&token=abc&token=abc", "client_id=desktop&token=%zz", "",
    ])
    func `a malformed revocation is 400 invalid_request`(body: String) throws {
        let refusal = try refusal(.revocation, body)
        #expect(refusal.error.code == .invalidRequest)
        #expect(refusal.status == 400)
        #expect(isDescription(refusal.error.explanation))
    }

    @Test(arguments: [
        "client_id=shop&token=abc", "client_id=shop&client_secret=guess&token=abc",
        "client_id=stranger&token=abc", "client_id=desktop&client_secret=x&token=abc",
    ])
    func `a client that does not prove itself is 401`(body: String) throws {
        for endpoint in [TokenQuestion.Endpoint.revocation, .introspection] {
            let refusal = try refusal(endpoint, body)
            #expect(refusal.error.code == .invalidClient)
            #expect(refusal.status == 401)
        }
    }

    @Test func `only confidential clients and API keys introspect`() throws {
        #expect(try refusal(.introspection, "client_id=desktop&token=abc").error.code == .invalidClient)
        #expect(try refusal(.introspection, "token=abc").error.code == .invalidClient)
        let (_, client) = try ask(.introspection, "client_id=shop&client_secret=shop-secret&token=abc")
        #expect(client?.id.rawValue == "shop")
        let (question, none) = try ask(
            .introspection, "token=abc", authorization: "Bearer siwa_key", hasAPIKey: true)
        #expect(none == nil && question.credentials == nil)
    }

    @Test func `an API key does not revoke`() {
        #expect(throws: TokenEndpointError.self) {
            try ask(.revocation, "token=abc", authorization: "Bearer siwa_key", hasAPIKey: true)
        }
    }

    @Test func `token in the query is refused`() {
        #expect(throws: TokenEndpointError(.invalidRequest, "")) {
            try ask(.revocation, "client_id=desktop", query: "token=abc")
        }
        #expect(throws: TokenEndpointError(.invalidRequest, "")) {
            try ask(.revocation, "client_id=desktop&token=abc", contentType: "application/json")
        }
    }

    @Test func `keeps the token out of descriptions`() throws {
        let (question, _) = try ask(.revocation, "client_id=desktop&token=siwa_rt_hush")
        var dumped = ""
        dump(question, to: &dumped)
        #expect(!"\(question)\(String(reflecting: question))\(dumped)".contains("siwa_rt_hush"))
    }
}
