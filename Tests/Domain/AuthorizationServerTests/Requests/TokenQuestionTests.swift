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

@Suite struct ScopeSetTests {
    @Test(arguments: [
        "openid", "openid email", "https://www.example.com/auth/drive.readonly",
        "a!#$%&'()*+,-./:;<=>?@[]^_`{|}~",
    ])
    func `reads scopes that are separated by single spaces`(text: String) {
        #expect(ScopeSet(parsing: text)?.text == text)
    }

    @Test(arguments: [
        "", " ", " openid", "openid ", "openid  email", "openid\temail", "openid\nemail", "\"", "a\\b",
        "\u{E9}",
        "open\u{0}id", "\u{7F}", String(repeating: "s", count: 129),
    ])
    func `refuses everything else`(text: String) { #expect(ScopeSet(parsing: text) == nil) }

    @Test func `has a bound on scopes and on bytes`() {
        let most = (1...64).map { "s\($0)" }.joined(separator: " ")
        #expect(ScopeSet(parsing: most)?.tokens.count == 64)
        #expect(ScopeSet(parsing: most + " s65") == nil)
        let long = (1...17).map { String(repeating: "s", count: 120) + "\($0)" }.joined(separator: " ")
        #expect(long.utf8.count > ScopeSet.longest)
        #expect(ScopeSet(parsing: long) == nil)
    }

    @Test func `keeps the order, and each scope once`() throws {
        let set = try #require(ScopeSet(parsing: "email openid email profile openid"))
        #expect(set.text == "email openid profile")
        let other = try #require(ScopeSet(parsing: "devices profile openid"))
        #expect(set.intersection(other).text == "openid profile")
        #expect(set.union(other).text == "email openid profile devices")
        #expect(set.intersection(other).isSubset(of: set) && !set.isSubset(of: other))
        #expect(ScopeSet([]).isEmpty && ScopeSet([]).isSubset(of: set))
    }

    @Test func `scopes are case-sensitive`() throws {
        let set = try #require(ScopeSet(parsing: "Email email"))
        #expect(set.tokens.count == 2)
        #expect(!set.contains(try #require(ScopeToken("EMAIL"))))
    }

    @Test func `a declared scope has its texts, and can replace a built-in one`() throws {
        let settings = try OAuthSettings.sample(
            .sample {
                $0.scopes.append(ScopeDraft(name: "email", isOptional: true))
                $0.scopes.append(ScopeDraft(name: "profile", text: ["en": "Read your name"]))
            })
        let email = try #require(settings.scopes[.email])
        #expect(email.isOptional && email.text[.turkish] == "E-posta adresinizi görme")
        #expect(settings.scopes[.profile]?.text[.polish] == "Read your name")
        #expect(settings.scopes[.openID]?.isOptional == false)
        let asked = try #require(ScopeSet(parsing: "devices email lights"))
        #expect(settings.scopes.declarations(of: asked).map(\.token.rawValue) == ["devices", "email"])
    }
}
