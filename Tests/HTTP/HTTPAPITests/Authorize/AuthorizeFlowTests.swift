import AuthorizationServer
import HTTPAPI
import HTTPEngine
import NIOCore
import StorageConformance
import StrictJSON
import Testing
import TokenMint

/// The steps of a browser through sign-in and consent to the client.
@Suite(.service(.authorize)) struct AuthorizeFlowTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    /// Moment after every moment at which a test leaves for Apple.
    static let fresh: @Sendable (inout JSONObject) -> Void = {
        $0["auth_time"] = .integer(TokenMint.sampleTime + 61)
        $0["iat"] = .integer(TokenMint.sampleTime + 61)
    }

    static func parameters(_ response: ProbeResponse) -> [String: String] {
        WebVisitor.parameters(of: response["location"] ?? "")
    }

    @Test func `a user signs in, is asked, agrees, and the client gets a code`() async throws {
        let redirect = try await visitor.authorize(OAuthClients.google).expecting(303)
        #expect(redirect["set-cookie"]?.hasPrefix("__Host-siwa_web=") == true)
        let arrival = try await visitor.arrival(after: redirect)
        #expect(arrival == "/oauth/authorize?\(OAuthClients.google)")
        #expect(visitor.cookies["__Host-siwa_session"] != nil)
        let page = try ConsentView(try await visitor.get(arrival))
        #expect(page.checkboxes == ["scope:devices"])
        #expect(try await service.grants().isEmpty)
        let answer = try await visitor.answer(page, "agree").expecting(303)
        let location = try #require(answer["location"])
        #expect(location.hasPrefix("\(OAuthClients.googleURI)?code=siwa_ac_"))
        #expect(location.contains("&state=a%2Bb+c&iss=https%3A%2F%2Fsiwa.test"))
        #expect(try await service.grants().map(\.scope) == ["openid email devices"])
    }

    @Test func `the session's cookie is bound to its host, and no script reads it`() async throws {
        let ticket = try await visitor.ticket(after: try await visitor.authorize(OAuthClients.shop))
        let cookie = try #require(try await visitor.get(WebVisitor.target(of: ticket))["set-cookie"])
        #expect(cookie.hasPrefix("__Host-siwa_session="))
        for attribute in ["; Max-Age=600", "; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
            #expect(cookie.contains(attribute))
        }
        #expect(!cookie.contains("acc_"))
    }

    @Test(.service(.authorize) { $0.publicURL = "http://siwa.test" })
    func `over plain HTTP the session's cookie is one that a browser takes`() async throws {
        let redirect = try await visitor.authorize(OAuthClients.shop)
        let ticket = try await visitor.ticket(after: redirect)
        let cookie = try #require(
            try await visitor.get(String(ticket.dropFirst("http://siwa.test".count)))["set-cookie"])
        #expect(cookie.hasPrefix("siwa_session=") && !cookie.contains("Secure"))
    }

    @Test func `only the scopes whose boxes are ticked are granted`() async throws {
        let page = try await visitor.consentPage(OAuthClients.desktop)
        _ = try await visitor.answer(page, "agree", unticking: ["scope:history"])
        #expect(try await service.grants().map(\.scope) == ["devices"])
        let again = try await visitor.answer(page, "agree", unticking: ["scope:history", "scope:devices"])
        #expect(Self.parameters(again)["error"] == "access_denied")
        #expect(Self.parameters(again)["code"] == nil)
    }

    @Test func `a scope that was not asked for cannot be ticked`() async throws {
        let page = try await visitor.consentPage(OAuthClients.desktop + "&scope=devices")
        let form = [("csrf_token", page.token), ("decision", "agree"), ("scope:devices", "1")]
        _ = try await visitor.post(page.action, form + [("scope:history", "1"), ("scope:openid", "1")])
        #expect(try await service.grants().map(\.scope) == ["devices"])
    }

    @Test(arguments: [OAuthClients.google, OAuthClients.shop, OAuthClients.desktop])
    func `who cancels is sent back with access_denied, and nothing is granted`(query: String) async throws {
        let answer = try await visitor.answer(try await visitor.consentPage(query), "cancel").expecting(303)
        #expect(Self.parameters(answer)["error"] == "access_denied")
        #expect(Self.parameters(answer)["state"] == "a+b+c")
        #expect(Self.parameters(answer)["iss"] == "https://siwa.test")
        #expect(try await service.grants().isEmpty)
    }

    @Test func `who has agreed is not asked again, until more is wanted`() async throws {
        let query = OAuthClients.shop
        let page = try await visitor.consentPage(query + "&scope=openid")
        _ = try await visitor.answer(page, "agree")
        let again = try await visitor.authorize(query + "&scope=openid").expecting(303)
        #expect(Self.parameters(again)["code"]?.hasPrefix("siwa_ac_") == true)
        _ = try ConsentView(try await visitor.authorize(query))
        _ = try ConsentView(try await visitor.authorize(query + "&scope=openid&prompt=consent"))
    }

    @Test(arguments: [OAuthClients.desktop, OAuthClients.loopback])
    func `a custom scheme and a loopback address always show the page`(query: String) async throws {
        try await alwaysShowsPage(query)
    }

    @Test func `link that a stranger began: for Google the page is shown to who has agreed before`()
        async throws
    { try await alwaysShowsPage(OAuthClients.google) }

    private func alwaysShowsPage(_ query: String) async throws {
        try await RunningService.with(.authorize) { service in
            let visitor = AuthorizeVisitor(service)
            _ = try await visitor.answer(try await visitor.consentPage(query), "agree")
            _ = try ConsentView(try await visitor.authorize(query))
            let silent = try await visitor.authorize(query + "&prompt=none")
            #expect(Self.parameters(silent)["error"] == "consent_required")
        }
    }

    @Test func `who gives a client new grants again and again is told to wait`() async throws {
        let store = try service.memory
        var page = try await visitor.consentPage(OAuthClients.desktop)
        for _ in 0..<GrantPace.most {
            #expect(try await Self.parameters(visitor.answer(page, "agree"))["code"] != nil)
            let grant = try #require(try await service.grants().first)
            try await store.carryOut(.end(.sample(grant.id, of: grant.accountID)))
            page = try ConsentView(try await visitor.authorize(OAuthClients.desktop))
        }
        let last = Self.parameters(try await visitor.answer(page, "agree"))
        #expect(last["error"] == "temporarily_unavailable")
        #expect(try await service.grants().isEmpty)
    }

    @Test func `prompt=none shows no page`() async throws {
        let silent = OAuthClients.shop + "&prompt=none"
        let stranger = try await visitor.authorize(silent).expecting(303)
        #expect(Self.parameters(stranger)["error"] == "login_required")
        #expect(Self.parameters(stranger)["state"] == "a+b+c")
        let page = try await visitor.consentPage(OAuthClients.shop)
        #expect(try await Self.parameters(visitor.authorize(silent))["error"] == "consent_required")
        _ = try await visitor.answer(page, "agree")
        #expect(try await Self.parameters(visitor.authorize(silent))["code"] != nil)
        let other = try await visitor.authorize(
            silent + "&login_hint=acc_0193a5e0-7c00-7abc-8def-0123456789ab")
        #expect(Self.parameters(other)["error"] == "interaction_required")
    }

    @Test func `a request as a form is answered like one in the URL`() async throws {
        func post(_ text: String) async throws -> ProbeResponse {
            try await visitor.post("/oauth/authorize", text: text, from: nil)
        }
        let redirect = try await post(OAuthClients.shop)
        let page = try ConsentView(try await visitor.signIn(after: redirect))
        #expect(page.response.text.contains("Example Shop"))
        let asked = try ConsentView(try await post(OAuthClients.shop))
        #expect(try await Self.parameters(visitor.answer(asked, "agree"))["code"] != nil)
        #expect(try await Self.parameters(post(OAuthClients.shop))["code"] != nil)
    }

    @Test(arguments: [nil, "https://shop.example.com", "null"])
    func `what is wrong with a request as a form is told at once`(origin: String?) async throws {
        let told = try await visitor.post(
            "/oauth/authorize", text: OAuthClients.shop + "&scope=unknown", from: origin)
        #expect(told["location"]?.hasPrefix("\(OAuthClients.shopURI)?error=invalid_scope&") == true)
        #expect(told["location"]?.hasSuffix("&state=a%2Bb%20c&iss=https%3A%2F%2Fsiwa.test") == true)
        let unknown = try await visitor.post("/oauth/authorize", text: "client_id=unknown", from: origin)
        #expect(unknown.status == 400 && unknown["location"] == nil)
    }

    @Test(arguments: ["https://shop.example.com", "null"])
    func `a form of a page goes on as a GET, because no cookie comes with it`(origin: String) async throws {
        let answer = try await visitor.post("/oauth/authorize", text: OAuthClients.shop, from: origin)
        #expect(answer.status == 303)
        let query = OAuthClients.shop.replacing("+", with: "%20")
        #expect(answer["location"] == "/oauth/authorize?\(query)")
        let raw = OAuthClients.shop.replacing("+", with: " ").replacing("%20", with: " ")
        let spaced = try await visitor.post("/oauth/authorize", text: raw, from: origin)
        #expect(spaced["location"] == "/oauth/authorize?\(query)")
        for text in ["", "a b", "a=é", String(repeating: "a", count: 4097)] {
            let refused = try await visitor.post("/oauth/authorize", text: text)
            #expect(refused.status == 400 && refused.text.contains("invalid_request"))
        }
        let json = try await visitor.post("/oauth/authorize", text: "{}", type: "application/json")
        #expect(json.status == 400 && json.text.contains("invalid_request"))
    }

    @Test(arguments: [nil, "null", "https://shop.example.com"], [false, true])
    func `a form that is too long to travel to Apple is reported to the client as invalid_request`(
        origin: String?, hasSession: Bool
    ) async throws {
        if hasSession { _ = try await visitor.consentPage(OAuthClients.shop) }
        let form = OAuthClients.shop.replacing("+", with: "%20")
        let room = 4096 - form.utf8.count - "&extra=".utf8.count
        let longest = "\(form)&extra=" + String(repeating: "x", count: room)
        let refused = try await visitor.post("/oauth/authorize", text: longest + "x", from: origin)
        #expect(refused.status == 303)
        #expect(Self.parameters(refused)["error"] == "invalid_request")
        #expect(Self.parameters(refused)["state"] != nil)
        let taken = try await visitor.post("/oauth/authorize", text: longest, from: origin)
        // A browser without a page of origin brings its cookie, and is asked at once.
        #expect(taken.status == (hasSession && origin == nil ? 200 : 303))
        #expect(Self.parameters(taken)["error"] == nil)
    }

    @Test func `a query travels to Apple and back up to 4096 bytes`() async throws {
        let room = 4096 - OAuthClients.shop.utf8.count - "&extra=".utf8.count
        let longest = OAuthClients.shop + "&extra=" + String(repeating: "x", count: room)
        let redirect = try await visitor.authorize(longest)
        #expect((redirect["location"] ?? "").utf8.count < 8192)
        _ = try ConsentView(try await visitor.signIn(after: redirect))
        visitor.setCookie("__Host-siwa_session", nil)
        let refused = try await visitor.authorize(longest + "x")
        #expect(Self.parameters(refused)["error"] == "invalid_request")
        #expect(Self.parameters(refused)["state"] == "a+b+c")
    }

    @Test func `outcomes are counted`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop)
        _ = try await visitor.answer(page, "cancel")
        _ = try await visitor.answer(page, "agree")
        _ = try await visitor.post(page.action, [("decision", "agree")])
        _ = try await visitor.authorize("client_id=unknown")
        let metrics = try await service.get("/metrics").text
        func line(_ client: String, _ outcome: String, _ count: Int) -> String {
            "siwa_oauth_authorizations_total{client=\"\(client)\",outcome=\"\(outcome)\"} \(count)\n"
        }
        for outcome in [
            "sign_in", "signed_in", "asked", "access_denied", "code", "form_refused",
        ] { #expect(metrics.contains(line("shop", outcome, 1)), "\(outcome)") }
        #expect(metrics.contains(line("shop", "login_required", 0)))
        // A client that is not configured gives no series.
        #expect(metrics.contains(line("none", "page", 1)) && !metrics.contains("client=\"unknown\""))
    }

    @Test(arguments: [
        ("DELETE", "", 405, "method_not_allowed"),
        ("POST", String(repeating: "a", count: 65_537), 413, "body_too_large"),
    ]) func `a request that is refused before the endpoint reads it gets a page too`(
        method: String, form: String, status: Int, code: String
    ) async throws {
        let answer = try await service.call(
            method, "/oauth/authorize?\(OAuthClients.shop)", body: form, secret: nil,
            fields: ["Content-Type": "application/x-www-form-urlencoded"])
        try Self.expectPage(answer, status, code)
        #expect(answer["allow"] == (status == 405 ? "GET, HEAD, POST" : nil))
    }

    /// Each of these patterns can keep an event loop busy for tens of milliseconds.
    @Test(arguments: ["+", "%2B", "&", "=", "a=+&"])
    func `a posted request past its bound gets a page before it is read`(text: String) async throws {
        let form = String(repeating: text, count: 65_536 / text.utf8.count)
        let answer = try await visitor.post("/oauth/authorize", text: form)
        #expect(answer.status == 400 && answer.text.contains("<bdi dir=\"ltr\">invalid_request</bdi>"))
        let shown = try await visitor.post("/oauth/authorize?\(OAuthClients.shop)", text: form)
        #expect(shown.status == 403 && shown.text.contains("form_refused"))
    }

    @Test func `a user whose request takes too long gets a page too`() async throws {
        var options = RunningService.Options.authorize
        options.limits.workTime = .seconds(2)
        let store = SilentStatuses()
        options.store = store
        try await RunningService.with(options) { service in
            defer { store.open() }
            let visitor = AuthorizeVisitor(service)
            let arrival = try await visitor.arrival(after: try await visitor.authorize(OAuthClients.shop))
            let answer = try await visitor.get(arrival)
            try Self.expectPage(answer, 503, "storage_unavailable")
            #expect(answer["retry-after"] == "2")
        }
    }

    private static func expectPage(_ answer: ProbeResponse, _ status: Int, _ code: String) throws {
        #expect(answer.status == status)
        #expect(answer["content-type"] == "text/html; charset=utf-8")
        #expect(answer["cache-control"] == "no-store" && answer["x-content-type-options"] == "nosniff")
        #expect(answer["referrer-policy"] == "no-referrer")
        let policy = try #require(answer["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        let requestID = try #require(answer["x-request-id"])
        #expect(answer.text.contains("<bdi dir=\"ltr\">\(code)</bdi> · <bdi dir=\"ltr\">\(requestID)</bdi>"))
        #expect(!answer.text.contains("client_id"))
    }

    @Test(.service())
    func `without OAuth clients there is no endpoint`() async throws {
        #expect(try await visitor.authorize(OAuthClients.shop).status == 404)
        #expect(try await visitor.post("/oauth/authorize", text: "a=b").status == 404)
        let other = try await service.call("DELETE", "/oauth/authorize")
        #expect(other.status == 404 && other["allow"] == nil)
    }
}
