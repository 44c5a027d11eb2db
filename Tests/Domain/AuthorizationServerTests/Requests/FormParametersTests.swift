import AppleAccounts
import StrictJSON
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct FormParametersTests {
    private func parsed(_ text: String) throws -> FormParameters {
        try FormParameters(parsing: text.utf8, as: .query)
    }

    @Test(
        arguments: [
            ("b=2&a=1", "a=1&b=2"), ("a=2&a=1", "a=1&a=2"), ("a=x+y%2F~-._%C3%BC", "a=x%20y%2F~-._%C3%BC"),
            ("a=&b&=c", "=c&a=&b="), ("a=1&attestation_assertion=x&ab=2", "a=1&ab=2"), ("", ""),
            ("a=%2", nil), ("a=%FF", nil),
        ] as [(String, String?)])
    func `writes the parameters in the form that a proof vouches for`(form: String, text: String?) throws {
        let parameters = try FormParameters(parsing: Array(form.utf8), as: .form)
        #expect(parameters.canonicalText(without: [.attestationAssertion]) == text)
    }

    @Test(
        arguments: [
            ("a=b", .text("b")), ("x=1&a=b%20c+d", .text("b c d")), ("a=%C3%A9", .text("\u{E9}")),
            ("%61=b", .text("b")), ("a=b=c", .text("b=c")), ("&&a=b&", .text("b")),
            ("a=\"'<>", .text("\"'<>")),
            ("", .absent), ("A=b", .absent), ("a", .absent), ("a=", .absent), ("aa=b", .absent),
            ("=b", .absent),
            ("a=b&a=b", .repeated), ("a=&a=b", .repeated), ("a=1&%61=2", .repeated), ("a&a", .repeated),
            ("a=%", .malformed), ("a=%4", .malformed), ("a=%zz", .malformed), ("a=%FF", .malformed),
            ("a=%C3", .malformed), ("a=%00", .malformed), ("a=b\u{E9}", .malformed), ("a=b c", .text("b c")),
            ("a=b\r\nc", .malformed), ("a=%ED%A0%80", .malformed), ("a=%C0%AF", .malformed),
        ] as [(String, FormParameters.Value)])
    func `reads one parameter`(text: String, value: FormParameters.Value) throws {
        #expect(try parsed(text)["a"] == value)
    }

    @Test func `leaves a broken parameter that is not asked for alone`() throws {
        #expect(try parsed("%zz=1&b=%zz&c=1&c=2&a=b")["a"] == .text("b"))
    }

    @Test func `keeps the bytes of a value`() throws {
        #expect(try parsed("a=%c3%A9+%2B~").rawValues(of: "a").map(Array.init) == [Array("%c3%A9+%2B~".utf8)])
    }

    @Test func `has a bound on parameters`() throws {
        let most = String(repeating: "x=1&", count: FormParameters.mostParameters - 1) + "a=b"
        #expect(try parsed(most)["a"] == .text("b"))
        #expect(throws: FormParameters.TooMany()) { try parsed(most + "&x=1") }
    }

    @Test func `has a bound on bytes`() throws {
        let most = "a=" + String(repeating: "b", count: FormParameters.mostBytes - 2)
        #expect(try parsed(most)["x"] == .absent)
        #expect(throws: FormParameters.TooMany()) { try parsed(most + "b") }
        #expect(throws: FormParameters.TooMany()) { try parsed(String(repeating: "&", count: 16_385)) }
    }

    @Test func `reads no more of a value than is asked for`() throws {
        let form = try parsed("a=" + String(repeating: "%C3%A9", count: 1000) + "%zz")
        #expect(form.value(of: "a", upTo: 4) == .text("\u{E9}\u{E9}"))
        // In the middle of a character: all that is known is that it is longer.
        guard case .text(let text) = form.value(of: "a", upTo: 5) else {
            Issue.record("not a text")
            return
        }
        #expect(text.utf8.count >= 5)
        #expect(form["a"] == .malformed)
    }

    /// With unbounded names, comparing each name with all others would cost more than the request.
    @Test func `looks at no name that is longer than those it knows`() throws {
        let name = String(repeating: "n", count: 200)
        #expect(try parsed("\(name)=1&\(name)=1&a=b&%61=c").repeatedNames == ["a"])
        #expect(try parsed("\(name)=1&a=b")[name] == .absent)
        let escaped = "token_type_hint".utf8.map { "%" + String($0, radix: 16) }.joined()
        #expect(try parsed("\(escaped)=b")["token_type_hint"] == .text("b"))
    }

    @Test(arguments: RequestParameter.allCases)
    func `has a bound on every parameter`(parameter: RequestParameter) throws {
        let longest = parameter.longest
        #expect(longest < FormParameters.mostBytes)
        for (count, isAccepted) in [(longest, true), (longest + 1, false)] {
            let text = "\(parameter.rawValue)=" + String(repeating: "a", count: count)
            let reader = ParameterReader(try parsed(text))
            #expect(
                (try? reader.text(parameter)) ?? nil
                    == (isAccepted ? String(repeating: "a", count: count) : nil))
            if !isAccepted {
                #expect(throws: OAuthError(.invalidRequest, "")) { try reader.text(parameter) }
            }
        }
    }
}

@Suite struct ClientAuthenticationTests {
    private func credentials(_ body: String, authorization: String? = nil) throws -> ClientCredentials {
        let reader = ParameterReader(try FormParameters(parsing: body.utf8, as: .form))
        return try ClientCredentials(reader, authorization: authorization)
    }

    private func refusal(_ body: String) throws -> TokenEndpointError {
        let authentication = ClientAuthentication(try OAuthSettings.sample().clients)
        let credentials = try credentials(body)
        return try #require(throws: TokenEndpointError.self) { try authentication.authenticate(credentials) }
    }

    @Test func `client secret guessing: says the same about a wrong secret and an unknown client`() throws {
        let wrong = try refusal("client_id=shop&client_secret=guess")
        let unknown = try refusal("client_id=stranger&client_secret=guess")
        #expect(wrong.error.code == .invalidClient)
        #expect(wrong.error.explanation == unknown.error.explanation)
        #expect(wrong.status == unknown.status)
    }

    @Test func `client secret guessing: names the client that a guess was about`() throws {
        #expect(try refusal("client_id=shop&client_secret=guess").guessedClient?.rawValue == "shop")
        #expect(try refusal("client_id=stranger&client_secret=guess").guessedClient == nil)
        #expect(try refusal("client_id=shop").guessedClient == nil)
    }

    @Test func `a secret of a client that has none is no guess, and must be left out`() throws {
        let refusal = try refusal("client_id=desktop&client_secret=guess")
        #expect(refusal.error.code == .invalidClient)
        #expect(refusal.error.explanation == "This client has no secret; leave it out.")
        #expect(refusal.guessedClient == nil)
    }

    @Test func `client secret guessing: the secret of a native client is like any other`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [.nativeSample { $0.secretHashes = [ClientDraft.hash(of: "kept")] }]
        }
        let authentication = ClientAuthentication(try OAuthSettings.sample(draft).clients)
        let credentials = try credentials("client_id=desktop&client_secret=guess")
        let refusal = try #require(throws: TokenEndpointError.self) {
            try authentication.authenticate(credentials)
        }
        #expect(refusal.guessedClient?.rawValue == "desktop")
    }

    @Test func `accepts each of several secrets`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [
                .sample { $0.secretHashes = [ClientDraft.hash(of: "old"), ClientDraft.hash(of: "new")] }
            ]
        }
        let authentication = ClientAuthentication(try OAuthSettings.sample(draft).clients)
        for secret in ["old", "new"] {
            let client = try authentication.authenticate(
                try credentials("client_id=shop&client_secret=\(secret)"))
            #expect(client.id.rawValue == "shop")
        }
    }

    @Test func `keeps secrets out of descriptions`() throws {
        let credentials = try credentials("client_id=shop&client_secret=hush-hush")
        let secret = OAuthClientSecret(randomBytes: Array(repeating: 7, count: 32))
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(secret, to: &dumped)
        let said =
            "\(credentials)\(String(reflecting: credentials))\(secret)\(String(reflecting: secret))\(dumped)"
        #expect(!said.contains("hush-hush"))
        #expect(!said.contains(secret.text))
    }

    @Test func `makes secrets whose hash the configuration takes`() throws {
        let secret = OAuthClientSecret(randomBytes: Array(0..<32))
        #expect(secret.text == "siwa_cs_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        let hash = try #require(OAuthClientSecretHash(hexadecimal: secret.hash.hexadecimal))
        #expect(hash.matches(secret.text))
        #expect(!hash.matches(secret.text + "A"))
        #expect(OAuthClientSecretHash(hexadecimal: secret.hash.hexadecimal.uppercased()) == hash)
    }
}

@Suite struct EmbeddedWebViewTests {
    @Test(arguments: [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
        "Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
        "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.0.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1 [FBAN/FBIOS;FBAV/480.0]",
        "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0 Mobile Safari/537.36 Instagram 350.0",
        "Mozilla/5.0 (iPhone) AppleWebKit/605 Safari/604.1 MicroMessenger/8.0",
    ])
    func `recognizes browsers inside of apps`(userAgent: String) {
        #expect(EmbeddedWebView.isOne(userAgent: userAgent))
    }

    @Test(arguments: [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/129.0 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/131.0 Mobile/15E148 Safari/605.1.15",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/340.0 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Mobile Safari/537.36",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36 Edg/129.0.0.0",
        "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0", "curl/8.10.1", "",
    ])
    func `lets browsers of the system pass`(userAgent: String) {
        #expect(!EmbeddedWebView.isOne(userAgent: userAgent))
    }

    @Test
    func `a web app on the home screen of iOS passes where a client allows it, and no browser in an app`() {
        let homeScreen =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
        #expect(EmbeddedWebView.isOne(userAgent: homeScreen))
        #expect(!EmbeddedWebView.isOne(userAgent: homeScreen, allowsHomeScreen: true))
        for other in ["\(homeScreen) [FBAN/FBIOS;FBAV/480.0]", "\(homeScreen) Instagram 350.0"] {
            #expect(EmbeddedWebView.isOne(userAgent: other, allowsHomeScreen: true))
        }
    }
}

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
            String(decoding: answer.json(), as: UTF8.self)
                == #"{"redirect_to":"\#(answer.redirectTo)","outcome":"access_denied","message":"\#(answer.message)"}"#
        )
    }
}

@Suite struct AuthenticationAgeTests {
    private let now = Moment(seconds: 1_800_000_000)

    @Test(
        arguments: [(0, true), (3600, true), (3601, false), (-30, true), (Int64.max / 4000, false)]
            as [(Int64, Bool)])
    func `accepts an authentication up to its bound`(age: Int64, isAccepted: Bool) {
        let moment = now.advanced(byMilliseconds: -age * 1000)
        #expect(AuthenticationAge(longest: 3600).accepts(moment, at: now) == isAccepted)
    }

    @Test func `a moment that is not known is never recent`() {
        #expect(!AuthenticationAge(longest: 9_999_999_999).accepts(nil, at: now))
        #expect(AuthenticationAge(longest: nil).accepts(nil, at: now))
    }

    @Test func `no bound overflows`() {
        #expect(AuthenticationAge(longest: 9_999_999_999).earliest(at: now) == Moment(seconds: 0))
    }
}
