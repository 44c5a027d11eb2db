import AuthorizationServer
import StorageConformance
import StrictJSON
import TestSupport
import Testing

/// Cases in which a user has to sign in at Apple, and their results.
@Suite(.service(.authorize)) struct AuthorizeSessionTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    private static func isRedirect(_ response: ProbeResponse) -> Bool {
        response.status == 303 && response["location"]?.hasPrefix("https://appleid.apple.com/") == true
    }

    private static func error(_ response: ProbeResponse) -> String? {
        response.status == 303 ? AuthorizeFlowTests.parameters(response)["error"] : nil
    }

    @Test(arguments: [
        "prompt=login", "prompt=login%20consent", "max_age=0", "max_age=59", "prompt=login&max_age=9999",
    ])
    func `a new sign-in is asked for, and must be later than the request`(demand: String) async throws {
        _ = try await visitor.consentPage(OAuthClients.desktop)
        let query = OAuthClients.desktop + "&" + demand
        let redirect = try await visitor.authorize(query)
        #expect(Self.isRedirect(redirect))
        // Apple's word about the sign-in before is not enough, and there is no second round.
        let old = try await visitor.signIn(after: redirect)
        #expect(Self.error(old) == "login_required")
        let again = try await visitor.authorize(query)
        _ = try ConsentView(try await visitor.signIn(after: again, AuthorizeFlowTests.fresh))
        // The round trip counts once: the same link needs a new sign-in, unless max_age is met now.
        if demand.contains("login") { #expect(try await Self.isRedirect(visitor.authorize(query))) }
    }

    @Test func `the form of a page counts after its round trip was used`() async throws {
        let redirect = try await visitor.authorize(OAuthClients.shop + "&prompt=login")
        let page = try ConsentView(try await visitor.signIn(after: redirect, AuthorizeFlowTests.fresh))
        #expect(try await AuthorizeFlowTests.parameters(visitor.answer(page, "agree"))["code"] != nil)
    }

    @Test func `another account can be chosen, on the page and with prompt=select_account`() async throws {
        let page = try await visitor.consentPage(OAuthClients.google + "&prompt=consent")
        #expect(page.otherAccount.hasSuffix("&prompt=consent%20select_account"))
        let redirect = try await visitor.get(page.otherAccount)
        #expect(Self.isRedirect(redirect))
        let other = try await visitor.signIn(after: redirect) { claims in
            claims["sub"] = "001234.ffffffffffffffffffffffffffffffff.0123"
            claims["email"] = "grace@example.com"
            claims["is_private_email"] = false
        }
        #expect(try ConsentView(other).response.text.contains("grace@example.com"))
        // The form of the first account's page is not the second account's.
        let stale = try await visitor.answer(page, "agree")
        #expect(stale.status == 403 && stale.text.contains("form_refused"))
    }

    /// Options in which the client `shop` may request the address.
    private static let shopWithEmail = RunningService.Options(oauth: {
        $0.clients[1].scopes = ["openid", "profile", "email"]
    })

    @Test(
        .service(AuthorizeSessionTests.shopWithEmail),
        arguments: [
            (false, "ada@example.com", "code"), (false, "ADA@example.com", "code"),
            (nil, "ada@example.com", "code"), (false, "grace@example.com", "interaction_required"),
            (nil, "grace@example.com", "interaction_required"),
            // The address that a client knows is never the relay address.
            (true, "grace@example.com", "code"),
        ])
    func `a hint that names another address is told to the user`(
        isPrivate: Bool?, hint: String, outcome: String
    ) async throws {
        let page = try await visitor.signIn(after: try await visitor.authorize(OAuthClients.shop)) {
            claims in
            claims["email"] = "ada@example.com"
            claims["is_private_email"] = isPrivate.map { .bool($0) }
        }
        _ = try await visitor.answer(try ConsentView(page), "agree")
        let query = OAuthClients.shop + "&login_hint=" + WebVisitor.encode(hint)
        let silent = try await visitor.authorize(query + "&prompt=none")
        #expect((Self.error(silent) ?? "code") == outcome)
        #expect(try await visitor.authorize(query).status == (outcome == "code" ? 303 : 200))
    }

    @Test(
        .service(AuthorizeSessionTests.shopWithEmail),
        arguments: ["ada@example.com", "grace@example.com", "ada@", "acc@example.com"])
    func `existence oracle: a hint tells nothing of an address that the client may not know`(
        hint: String
    ) async throws {
        let openid = OAuthClients.shop + "&scope=openid"
        let page = try await visitor.signIn(after: try await visitor.authorize(openid)) { claims in
            claims["email"] = "ada@example.com"
            claims["is_private_email"] = nil
        }
        _ = try await visitor.answer(try ConsentView(page), "agree")
        #expect(try await Self.error(visitor.authorize(openid + "&prompt=none")) == nil)
        let query = openid + "&login_hint=" + WebVisitor.encode(hint)
        let silent = try await visitor.authorize(query + "&prompt=none")
        #expect(Self.error(silent) == "interaction_required")
        #expect(try await visitor.authorize(query).status == 200)
    }

    @Test func `a max_age that is met asks for nothing`() async throws {
        _ = try await visitor.consentPage(OAuthClients.shop)
        _ = try ConsentView(try await visitor.authorize(OAuthClients.shop + "&max_age=60"))
        let silent = try await visitor.authorize(OAuthClients.shop + "&max_age=59&prompt=none")
        #expect(Self.error(silent) == "login_required")
    }

    @Test(.service(.authorize) { $0.oauth = { draft in draft.clients[1].maxAuthenticationAge = 120 } })
    func `the client's own bound is checked on the page and once more when the code is written`() async throws
    {
        let page = try await visitor.consentPage(OAuthClients.shop)
        service.clock.advance(by: .seconds(61))
        let late = try await visitor.answer(page, "agree")
        #expect(late.status == 403 && late.text.contains("login_required"))
        #expect(late["location"] == nil)
        #expect(try await Self.isRedirect(visitor.authorize(OAuthClients.shop)))
    }

    @Test func `a session lasts for ten minutes from the sign-in, however often its URL is opened`()
        async throws
    {
        let ticket = WebVisitor.target(
            of: try await visitor.ticket(after: try await visitor.authorize(OAuthClients.shop)))
        _ = try await visitor.get(ticket)
        service.clock.advance(by: .seconds(100))
        #expect(try await visitor.get(ticket)["set-cookie"]?.contains("Max-Age=500;") == true)
        let page = try ConsentView(try await visitor.authorize(OAuthClients.shop))
        service.clock.advance(by: .seconds(500))
        let late = try await visitor.answer(page, "agree")
        #expect(late.status == 403 && late.text.contains("login_required"))
        #expect(late.text.contains("href=\"/oauth/authorize?client_id=shop&amp;"))
        #expect(try await Self.isRedirect(visitor.authorize(OAuthClients.shop)))
    }

    @Test(.service(.authorize) { $0.oauth = { draft in draft.sessionLifetime = 60 } })
    func `the configuration says how long a session lasts`() async throws {
        _ = try await visitor.consentPage(OAuthClients.shop)
        service.clock.advance(by: .seconds(59))
        _ = try ConsentView(try await visitor.authorize(OAuthClients.shop))
        service.clock.advance(by: .seconds(1))
        #expect(try await Self.isRedirect(visitor.authorize(OAuthClients.shop)))
    }

    @Test func `a session is for one app`() async throws {
        var options = RunningService.Options.authorize
        options.redirectURLs[RunningService.secondClientID] = "https://second.example/apple"
        options.oauth = { draft in draft.clients[1].app = RunningService.secondClientID }
        try await RunningService.with(options) { service in
            let visitor = AuthorizeVisitor(service)
            _ = try await visitor.consentPage(OAuthClients.google)
            #expect(try await Self.isRedirect(visitor.authorize(OAuthClients.shop)))
        }
    }

    @Test func `a withdrawn consent at Apple ends the session`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop)
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        let answer = try await visitor.answer(page, "agree")
        #expect(answer.status == 403 && answer.text.contains("login_required"))
        #expect(answer["location"] == nil)
        #expect(visitor.cookies["__Host-siwa_session"] == nil)
        #expect(try await Self.isRedirect(visitor.authorize(OAuthClients.shop)))
    }

    @Test func `a session of before the withdrawal does not come back with a new sign-in`() async throws {
        let old = AuthorizeVisitor(service)
        _ = try await old.consentPage(OAuthClients.shop)
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        let new = AuthorizeVisitor(service)
        _ = try await new.signIn(after: try await new.authorize(OAuthClients.shop), AuthorizeFlowTests.fresh)
        #expect(try await Self.isRedirect(old.authorize(OAuthClients.shop)))
    }

    @Test func `a browser that comes from Apple with a credential that is gone is not sent there again`()
        async throws
    {
        let arrival = try await visitor.arrival(after: try await visitor.authorize(OAuthClients.shop))
        _ = try await service.post("/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(try await Self.error(visitor.get(arrival)) == "login_required")
    }

    @Test(arguments: [
        ("user_cancelled_authorize", "access_denied"), ("access_denied", "access_denied"),
        ("<script>", "server_error"), ("invalid_client", "server_error"),
    ]) func `what Apple says instead is told to the client in OAuth's words`(word: String, told: String)
        async throws
    {
        let redirect = try await visitor.authorize(OAuthClients.shop)
        let state = WebVisitor.parameters(of: redirect["location"] ?? "")["state"] ?? ""
        let posted = try await WebVisitor(service).post([("state", state), ("error", word)])
        let answer = try await visitor.get(WebVisitor.target(of: try #require(posted["location"])))
        #expect(answer["location"]?.hasPrefix("\(OAuthClients.shopURI)?error=\(told)&") == true)
        #expect(AuthorizeFlowTests.parameters(answer)["state"] == "a+b+c")
        #expect(AuthorizeFlowTests.parameters(answer)["iss"] == "https://siwa.test")
        #expect(visitor.cookies["__Host-siwa_session"] == nil)
    }

    @Test func `a token of Apple's that does not verify is no session`() async throws {
        let redirect = try await visitor.authorize(OAuthClients.shop)
        let arrival = try await visitor.arrival(after: redirect) { $0["nonce"] = "other" }
        #expect(arrival.hasPrefix("\(OAuthClients.shopURI)?error=server_error&"))
        #expect(visitor.cookies["__Host-siwa_session"] == nil)
    }
}
