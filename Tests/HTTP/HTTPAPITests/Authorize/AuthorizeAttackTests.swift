import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import HTTPAPI
import Logging
import StorageConformance
import Testing

/// The attacks on a browser at the authorization endpoint that RFC 9700 and RFC 6819 name.
@Suite(.service(.authorize)) struct AuthorizeAttackTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    private static func isRefused(_ response: ProbeResponse, _ status: Int, _ code: String) -> Bool {
        response.status == status && response["location"] == nil && response["set-cookie"] == nil
            && response["content-type"] == "text/html; charset=utf-8"
            && response.text.contains("<bdi dir=\"ltr\">\(code)</bdi>")
    }

    enum Forgery: CaseIterable {
        case noToken, emptyToken, wrongToken, otherSession, noDecision, wrongDecision, twice, tooLong
        case otherState, otherRedirectURI, otherScope, otherChallenge, otherClient
    }

    @Test(arguments: Forgery.allCases)
    func `CSRF on consent: a form that was not shown for this request grants nothing`(
        forgery: Forgery
    ) async throws {
        let query = OAuthClients.shop + "&scope=openid"
        let page = try await visitor.consentPage(query)
        var form = [("csrf_token", page.token), ("decision", "agree")]
        var action = page.action
        switch forgery {
        case .noToken: form.removeFirst()
        case .emptyToken: form[0].1 = ""
        case .wrongToken: form[0].1 = (page.token.hasPrefix("A") ? "B" : "A") + page.token.dropFirst()
        case .otherSession: form[0].1 = try await AuthorizeVisitor(service).consentPage(query).token
        case .noDecision: form.removeLast()
        case .wrongDecision: form[1].1 = "Agree"
        case .tooLong: form.append(("extra", String(repeating: "a", count: 8192)))
        case .twice: form.append(("csrf_token", page.token))
        case .otherState: action = action.replacing("a%2Bb+c", with: "evil")
        case .otherRedirectURI:
            action = action.replacing(
                WebVisitor.encode(OAuthClients.shopURI),
                with: WebVisitor.encode(OAuthClients.shopURI + "?a=1"))
        case .otherScope: action = action.replacing("scope=openid", with: "scope=openid+profile")
        case .otherChallenge:
            action = action.replacing(OAuthClients.challenge, with: String(OAuthClients.challenge.reversed()))
        case .otherClient: action = "/oauth/authorize?\(OAuthClients.google)"
        }
        let answer = try await visitor.post(action, form)
        #expect(Self.isRefused(answer, 403, "form_refused"), "\(answer.status) \(answer["location"] ?? "")")
        #expect(try await service.grants().isEmpty)
    }

    @Test func `CSRF on consent: without its cookie a form grants nothing`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop)
        visitor.setCookie("__Host-siwa_session", nil)
        #expect(try await Self.isRefused(visitor.answer(page, "agree"), 403, "login_required"))
        #expect(try await service.grants().isEmpty)
    }

    @Test func `clickjacking: no page may be framed, and none has a script`() async throws {
        let pages = [
            try await visitor.consentPage(OAuthClients.shop).response,
            try await visitor.authorize("client_id=unknown"),
            try await visitor.post("/oauth/authorize?\(OAuthClients.shop)", [("decision", "agree")]),
            try await visitor.post("/oauth/authorize", text: ""),
            try await service.call("DELETE", "/oauth/authorize", secret: nil),
            try await visitor.post("/oauth/authorize", text: String(repeating: "a", count: 65_537)),
        ]
        #expect(pages.map(\.status) == [200, 400, 403, 400, 405, 413])
        for page in pages {
            let policy = try #require(page["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
            #expect(policy.hasSuffix("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
            #expect(page["x-frame-options"] == "DENY" && page["referrer-policy"] == "no-referrer")
            #expect(page["content-language"] == "en")
            #expect(page["cache-control"] == "no-store" && page["x-content-type-options"] == "nosniff")
            #expect(!page.text.contains("<script"))
        }
    }

    @Test(arguments: [
        (OAuthClients.shop, "https://shop.example.com"), (OAuthClients.desktop, "com.example.app:"),
        (OAuthClients.google, "https://oauth-redirect.googleusercontent.com"),
        (OAuthClients.loopback, "http://127.0.0.1:9004"),
        (OAuthClients.query("desktop", "http://[::1]:9004/cb"), "http:"),
    ]) func `a form leads to this service and to the target of its request only`(
        query: String, source: String
    ) async throws {
        let page = try await AuthorizeVisitor(service).consentPage(query)
        let policy = try #require(page.response["content-security-policy"])
        #expect(policy.contains("form-action 'self' \(source); "))
    }

    @Test func `login CSRF: a sign-in that was begun in another browser is no session here`() async throws {
        let attacker = AuthorizeVisitor(service)
        let ticket = WebVisitor.target(
            of: try await attacker.ticket(after: try await attacker.authorize(OAuthClients.shop)))
        for victim in [AuthorizeVisitor(service), AuthorizeVisitor(service)] {
            let answer = try await victim.get(ticket)
            #expect(answer.status == 400 && answer.text.contains("web_browser_mismatch"))
            #expect(answer["set-cookie"] == nil && answer["location"] == nil)
            _ = try await victim.authorize(OAuthClients.shop)
        }
    }

    enum CookieForgery: CaseIterable {
        case word, empty, truncated, changed, oversized, state, ticket, unknownKey
    }

    @Test(arguments: CookieForgery.allCases)
    func `a session that was not sealed here is none`(forgery: CookieForgery) async throws {
        let redirect = try await visitor.authorize(OAuthClients.shop)
        _ = try await visitor.signIn(after: redirect)
        let session = try #require(visitor.cookies["__Host-siwa_session"])
        let state = WebVisitor.parameters(of: redirect["location"] ?? "")["state"] ?? ""
        let forged: String
        switch forgery {
        case .word: forged = "session"
        case .empty: forged = ""
        case .truncated: forged = String(session.dropLast(4))
        case .changed: forged = session.dropLast(6) + (session.hasSuffix("AAAAAA") ? "BBBBBB" : "AAAAAA")
        case .oversized: forged = String(repeating: "A", count: 4096)
        case .state: forged = state
        case .ticket: forged = String(session.reversed())
        case .unknownKey:
            let key = try #require(SealingKey(name: "test", bytes: Array(repeating: 8, count: 32)))
            forged = Base64URL.encode(
                try #require(SealingKeyRing([key])).seal(
                    Array("{}".utf8), for: SealingPurpose("oauth_session"),
                    associatedData: Array("oauth_session".utf8)))
        }
        visitor.setCookie("__Host-siwa_session", forged)
        let answer = try await visitor.authorize(OAuthClients.shop)
        #expect(answer["location"]?.hasPrefix("https://appleid.apple.com/") == true)
    }

    @Test(arguments: [
        ("client_id=unknown&redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb", "invalid_client"),
        ("redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb", "invalid_request"),
        ("client_id=shop", "invalid_request"), ("", "invalid_request"),
        ("client_id=shop&redirect_uri=https%3A%2F%2Fevil.example%2Fcb", "redirect_uri_mismatch"),
        (
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb%2F..%2Fevil",
            "redirect_uri_mismatch"
        ),
        (
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example.com%40evil.example%2Fcb",
            "redirect_uri_mismatch"
        ), ("client_id=shop&redirect_uri=javascript%3Aalert(1)", "redirect_uri_mismatch"),
        ("client_id=shop&client_id=shop&redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb", "invalid_request"),
    ]) func `open redirect: an unknown client or redirect URI gets a page`(query: String, code: String)
        async throws
    {
        let asked = try await visitor.authorize(query)
        #expect(Self.isRefused(asked, 400, code))
        let form = [("csrf_token", "x"), ("decision", "cancel")]
        if !query.isEmpty {
            #expect(try await Self.isRefused(visitor.post("/oauth/authorize?\(query)", form), 400, code))
        }
    }

    @Test func `mix-up: every answer names this server`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop)
        let answers = [
            try await visitor.answer(page, "cancel"), try await visitor.answer(page, "agree"),
            try await visitor.authorize(OAuthClients.desktop + "&prompt=none"),
            try await visitor.authorize(OAuthClients.shop + "&scope=unknown"),
            try await visitor.authorize(OAuthClients.shop),
        ]
        for answer in answers {
            #expect(answer["location"]?.hasSuffix("&iss=https%3A%2F%2Fsiwa.test") == true)
        }
    }

    @Test func `307 on the way to the client: every redirect makes a GET of a posted form`() async throws {
        let redirect = try await visitor.authorize(OAuthClients.shop)
        let page = try ConsentView(try await visitor.signIn(after: redirect))
        let redirects = [
            redirect, try await visitor.answer(page, "cancel"), try await visitor.answer(page, "agree"),
            try await visitor.authorize(OAuthClients.shop),
            try await visitor.authorize(OAuthClients.shop + "&scope=unknown"),
            try await visitor.post("/oauth/authorize", text: OAuthClients.shop),
            try await visitor.post("/oauth/authorize", text: OAuthClients.shop + "&scope=unknown"),
        ]
        for redirect in redirects {
            #expect(redirect.status == 303)
            #expect(redirect["location"] != nil && redirect["cache-control"] == "no-store")
        }
    }

    @Test func `referrer leaks: what follows does not learn the URL of a request or of a code`() async throws
    {
        let redirect = try await visitor.authorize(OAuthClients.google)
        let page = try ConsentView(try await visitor.signIn(after: redirect))
        let answers = [
            redirect, page.response, try await visitor.answer(page, "agree"),
            try await visitor.authorize(OAuthClients.shop + "&scope=unknown"),
            try await visitor.authorize("client_id=unknown"),
        ]
        for answer in answers { #expect(answer["referrer-policy"] == "no-referrer") }
        // Nothing is loaded from another server, and links to others say so themselves.
        #expect(page.response["content-security-policy"]?.hasPrefix("default-src 'none'; ") == true)
        #expect(!page.response.text.contains("src="))
    }

    static let markup = "\"><script>alert(1)</script>'&lt;{client}"

    @Test(arguments: ["client_id", "redirect_uri", "state", "login_hint", "ui_locales", "nonce", "extra"])
    func `error text with markup: nothing of a request is markup on a page`(parameter: String) async throws {
        var query = OAuthClients.shop.replacing("&state=a%2Bb+c", with: "")
        if parameter == "client_id" || parameter == "redirect_uri" {
            query = query.split(separator: "&").filter { !$0.hasPrefix(parameter) }.joined(separator: "&")
        }
        for value in [WebVisitor.encode(Self.markup), Self.markup.replacing("&", with: "")] {
            let request = "\(query)&\(parameter)=\(value)"
            var page = try await visitor.authorize(request)
            if page.status == 303, page["location"]?.hasPrefix("https://appleid") == true {
                page = try await visitor.signIn(after: page)
            }
            #expect(page["content-type"] == "text/html; charset=utf-8")
            #expect(!page.text.contains("<script"))
            if parameter == "login_hint" { #expect(page.text.contains("&quot;&gt;&lt;script&gt;")) }
        }
    }

    @Test(arguments: [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
        "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1 [FBAN/FBIOS;FBAV/470]",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1 Instagram 340.0",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1 Line/14.0",
    ])
    func `an embedded web view is told to open the browser`(userAgent: String) async throws {
        visitor.fields["User-Agent"] = userAgent
        let page = try await visitor.authorize(OAuthClients.shop)
        #expect(Self.isRefused(page, 403, "disallowed_useragent"))
        let address = page.text.replacing("<wbr>", with: "")
        #expect(address.contains("https://siwa.test/oauth/authorize?client_id=shop&amp;redirect_uri="))
        // The redirect URI is checked first.
        #expect(
            try await Self.isRefused(
                visitor.authorize("client_id=unknown&redirect_uri=x:"), 400, "invalid_client"))
    }

    @Test(arguments: [true, false])
    func
        `a web app on the home screen of iOS signs in where its client allows it, and nothing else in an app does`(
            isAllowed: Bool
        ) async throws
    {
        let options = RunningService.Options(oauth: { draft in
            if isAllowed { draft.clients[1].allowsHomeScreenApp = true }
        })
        try await RunningService.with(options) { service in
            let homeScreen =
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
            let visitor = AuthorizeVisitor(service)
            visitor.fields["User-Agent"] = homeScreen
            let redirect = try await visitor.authorize(OAuthClients.shop)
            if isAllowed {
                let page = try ConsentView(
                    try await visitor.signIn(after: redirect, AuthorizeFlowTests.fresh))
                let agreed = AuthorizeFlowTests.parameters(try await visitor.answer(page, "agree"))
                #expect(agreed["code"]?.hasPrefix("siwa_ac_") == true, "\(agreed)")
            } else {
                #expect(Self.isRefused(redirect, 403, "disallowed_useragent"))
            }
            // The setting is of one client, and says nothing about browsers in other apps.
            for query in [OAuthClients.google, OAuthClients.desktop] {
                #expect(try await Self.isRefused(visitor.authorize(query), 403, "disallowed_useragent"))
            }
            visitor.fields["User-Agent"] = "\(homeScreen) [FBAN/FBIOS;FBAV/480.0]"
            #expect(
                try await Self.isRefused(visitor.authorize(OAuthClients.shop), 403, "disallowed_useragent"))
        }
    }

    @Test func `a flood of requests stores nothing`() async throws {
        let store = try service.memory
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for task in 0..<8 {
                tasks.addTask { [service = self.service] () async throws in
                    let visitor = AuthorizeVisitor(service)
                    for number in 0..<50 {
                        let query = "\(OAuthClients.shop)&extra=\(task)-\(number)"
                        #expect(try await visitor.authorize(query).status == 303)
                        #expect(try await visitor.post("/oauth/authorize?\(query)", []).status == 403)
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try await store.lastEventSequence() == 0)
        #expect(try await store.purgeTickets(expiredBefore: .last) == 0)
        #expect(try await store.purgeGrants(at: .last) == 0)
    }

    @Test(.service(.authorize) { $0.logLevel = .trace })
    func `neither codes nor queries nor cookies are logged`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop + "&login_hint=zebedee@example.com")
        let answer = try await visitor.answer(page, "agree")
        let code = try #require(AuthorizeFlowTests.parameters(answer)["code"])
        let log = service.loggedText()
        #expect(log.contains("route=/oauth/authorize status=303"))
        let session = try #require(visitor.cookies["__Host-siwa_session"])
        for secret in [code, session, page.token, "zebedee", "a%2Bb", OAuthClients.challenge] {
            #expect(!log.contains(secret))
        }
    }
}
