import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct AuthorizationResponseTests {
    private func response(
        _ uri: String, state: RequestState?, issuer: String? = "https://accounts.example.com"
    )
        throws -> AuthorizationResponse
    {
        let target = try #require(try RegisteredRedirectURI(registering: uri).target(for: uri))
        return AuthorizationResponse(
            target: target, state: state, issuer: try issuer.map { try Issuer($0, isDevelopment: false) })
    }

    @Test(arguments: [
        (
            "https://a.example/cb",
            "https://a.example/cb?code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"
        ),
        (
            "https://a.example/cb?x=1",
            "https://a.example/cb?x=1&code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"
        ),
        (
            "https://a.example/cb?",
            "https://a.example/cb?code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"
        ),
        (
            "https://a.example/cb?x=1&",
            "https://a.example/cb?x=1&code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"
        ),
        ("com.example.app:/", "com.example.app:/?code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9?code=c&state=s&iss=https%3A%2F%2Faccounts.example.com"),
    ])
    func `keeps an existing query`(uri: String, location: String) throws {
        let response = try response(uri, state: RequestState(query: "s".utf8))
        #expect(response.location(code: "c") == location)
    }

    @Test func `writes a space as an escape, and no iss in App Flip`() throws {
        let response = try response("https://a.example/cb", state: RequestState(text: "a b+c"), issuer: nil)
        #expect(
            response.location(error: OAuthError(.cancelled, "Not now."))
                == "https://a.example/cb?error=cancelled&error_description=Not%20now.&state=a%20b%2Bc")
    }

    @Test(arguments: [
        "", "a&b", "a#b", "a b", "a\r\nb", "a\u{0}", "\u{E9}", String(repeating: "s", count: 4097),
    ])
    func `takes no state that would change the query`(state: String) {
        #expect(RequestState(query: state.utf8) == nil)
    }

    @Test func `has a bound on a state that has to be encoded`() {
        #expect(RequestState(text: String(repeating: "\u{E9}", count: 682))?.encoded.utf8.count == 4092)
        #expect(RequestState(text: String(repeating: "\u{E9}", count: 683)) == nil)
        #expect(RequestState(text: "") == nil)
    }

    @Test(arguments: OAuthError.Code.allCases)
    func `an error is JSON with two members`(code: OAuthError.Code) {
        let json = String(decoding: OAuthError(code, "Why.").json, as: UTF8.self)
        #expect(json == #"{"error":"\#(code.rawValue)","error_description":"Why."}"#)
        #expect(isDescription(code.rawValue))
        #expect((400...503).contains(TokenEndpointError(code, "Why.").status))
    }

    @Test func `answers of streamlined linking have words in place of booleans`() {
        let answers: [(LinkingResponse, Int, String)] = [
            (.accountFound, 200, #"{"account_found":"true"}"#),
            (.accountNotFound, 404, #"{"account_found":"false"}"#),
            (
                .linkingError(loginHint: "anna@example.com", reason: .accountNotMatched), 401,
                #"{"error":"linking_error","login_hint":"anna@example.com"}"#
            ),
            (.linkingError(loginHint: nil, reason: .accountExists), 401, #"{"error":"linking_error"}"#),
        ]
        for (answer, status, json) in answers {
            #expect(answer.status == status)
            #expect(String(decoding: answer.json(), as: UTF8.self) == json)
        }
    }

    @Test func `an App Flip answer is JSON with three members`() throws {
        let answer = AppFlipResponse(
            refusing: AppFlipOutcome.accessDenied,
            by: try response("https://a.example/", state: nil, issuer: nil),
            language: .english)
        #expect(
            String(decoding: answer.json, as: UTF8.self)
                == #"{"redirect_to":"\#(answer.redirectTo)","outcome":"access_denied","message":"\#(answer.message)"}"#
        )
    }
}
