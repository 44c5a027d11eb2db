import StorageConformance
import StrictJSON
import Testing

/// An ID token that names the user of an authorization request (OpenID Connect Core §3.1.2.1).
@Suite(.service(.oauth)) struct IDTokenHintTests {
    private static let otherSubject = "001234.ffffffffffffffffffffffffffffffff.0123"

    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    /// There are two users. The browser has a session of the first, who has agreed.
    init() async throws {
        let other = AuthorizeVisitor(service)
        _ = try await other.signIn(after: try await other.authorize(OAuthClients.shop), Self.second)
        let page = try await visitor.consentPage(OAuthClients.shop)
        #expect(try await visitor.answer(page, "agree").status == 303)
    }

    private static func second(_ claims: inout JSONObject) {
        claims["sub"] = .string(otherSubject)
        claims["email"] = "grace@example.com"
    }

    private static func request(_ hint: String, _ more: String = "") -> String {
        "\(OAuthClients.shop)&id_token_hint=\(hint)\(more)"
    }

    private static func error(_ response: ProbeResponse) -> String? {
        AuthorizeFlowTests.parameters(response)["error"]
    }

    @Test
    func `with an expired ID token of the user of the session there is a code, with and without a page`()
        async throws
    {
        for client in ["shop", "desktop"] {
            let hint = try await LogoutTests.idToken(service, client: client)
            for more in ["", "&prompt=none"] {
                let answer = try await visitor.authorize(Self.request(hint, more))
                #expect(AuthorizeFlowTests.parameters(answer)["code"] != nil, "\(client) \(more)")
            }
            #expect(!service.loggedText().contains(hint.prefix(40)))
        }
    }

    @Test func `the session of another user gives no code`() async throws {
        let other = try #require(try await service.account(Self.otherSubject))
        let hint = try await LogoutTests.idToken(service, account: other)
        #expect(
            try await Self.error(visitor.authorize(Self.request(hint, "&prompt=none"))) == "login_required")
        let redirect = try await visitor.authorize(Self.request(hint))
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/") == true)
        // The first user again: an error, and no loop.
        let again = try await visitor.signIn(after: redirect, AuthorizeFlowTests.fresh)
        #expect(Self.error(again) == "login_required")
        // The user whom the client means.
        let second = try await visitor.authorize(Self.request(hint))
        let page = try ConsentView(
            try await visitor.signIn(after: second) { claims in
                AuthorizeFlowTests.fresh(&claims)
                Self.second(&claims)
            })
        #expect(page.response.text.contains("grace@example.com"))
        let answer = try await visitor.answer(page, "agree")
        #expect(AuthorizeFlowTests.parameters(answer)["code"] != nil)
    }

    @Test func `with a key that is not held any more the user counts as signed out`() async throws {
        let account = try #require(try await service.account())
        let hint = try await LogoutTests.idToken(service, account: account, keys: ReferenceStore())
        #expect(
            try await Self.error(visitor.authorize(Self.request(hint, "&prompt=none"))) == "login_required")
        let redirect = try await visitor.authorize(Self.request(hint))
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/") == true)
        let answer = try await visitor.signIn(after: redirect, AuthorizeFlowTests.fresh)
        #expect(AuthorizeFlowTests.parameters(answer)["code"] != nil)
    }

    enum Forgery: CaseIterable, Sendable {
        case garbage, jws, noSignature, otherSignature, otherIssuer, twice
    }

    @Test(arguments: Forgery.allCases, [true, false])
    func `no ID token of this service is an invalid request`(forgery: Forgery, hasSession: Bool) async throws
    {
        let genuine = try await LogoutTests.idToken(service)
        let parts = genuine.split(separator: ".").map(String.init)
        let hint =
            switch forgery {
            case .garbage: "x"
            case .jws: "e30.e30.e30"
            case .noSignature: "\(parts[0]).\(parts[1]).AAAA"
            case .otherSignature: "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))"
            case .otherIssuer: try await LogoutTests.idToken(service, issuer: "https://other.example.com")
            case .twice: "\(genuine)&id_token_hint=\(genuine)"
            }
        let browser = hasSession ? visitor : AuthorizeVisitor(service)
        for more in ["", "&prompt=none"] {
            let answer = try await browser.authorize(Self.request(hint, more))
            #expect(Self.error(answer) == "invalid_request", "\(forgery) \(more)")
        }
    }

    @Test func `without a session an ID token changes nothing, and an empty parameter is absent`()
        async throws
    {
        let hint = try await LogoutTests.idToken(service)
        let browser = AuthorizeVisitor(service)
        #expect(
            try await Self.error(browser.authorize(Self.request(hint, "&prompt=none"))) == "login_required")
        let redirect = try await browser.authorize(Self.request(hint))
        let answer = try await browser.signIn(after: redirect)
        #expect(AuthorizeFlowTests.parameters(answer)["code"] != nil)
        let empty = try await visitor.authorize(Self.request("", "&prompt=none"))
        #expect(AuthorizeFlowTests.parameters(empty)["code"] != nil)
    }
}
