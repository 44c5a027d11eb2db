import AppleAccounts
import AuthorizationServer
import HTTPEngine
import Pages
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import HTTPAPI
@testable import OAuth

/// The user's page about connected clients, and the call of the app's backend that ends all grants.
@Suite(.service(.oauth)) struct ConnectionsTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    private static let path = "/account/connections"
    private static let app = "app=\(TokenMint.clientID)"

    /// A user who has agreed to the requests of these clients, with a session.
    private static func agree(_ visitor: AuthorizeVisitor, to queries: [String]) async throws {
        for query in queries {
            let first = try await visitor.authorize(query)
            var response = first
            if first.status != 200 { response = try await visitor.signIn(after: first) }
            let page = try ConsentView(response)
            #expect(try await visitor.answer(page, "agree").status == 303)
        }
    }

    private static func forms(_ page: ProbeResponse) -> [(token: String, grant: String)] {
        page.text.matches(
            of: #/name="csrf_token" value="([^"]*)">\s<input type="hidden" name="grant" value="([^"]*)"/#
        ).map { (String($0.1), String($0.2)) }
    }

    private static func post(
        _ visitor: AuthorizeVisitor, token: String?, grant: String
    ) async throws -> ProbeResponse {
        let token = token.map { [("csrf_token", $0)] } ?? []
        return try await visitor.post("\(path)?\(app)", token + [("grant", grant)])
    }

    @Test(arguments: [
        (PageLanguage.english, "1 January 2026"), (.arabic, "1 يناير 2026"), (.turkish, "1 Ocak 2026"),
        (.polish, "1 stycznia 2026"),
    ])
    func `a day is in words`(language: PageLanguage, words: String) throws {
        let first = Moment(seconds: 1_767_225_600)
        #expect(ConnectionsPage.day(of: first, in: language) == .value(words))
        let months = (0..<12).map { first.advanced(byMilliseconds: $0 * 31 * 86_400_000 - 43_200_000) }
        #expect(Set(months.map { ConnectionsPage.day(of: $0, in: language).string }).count == 12)
        #expect(ConnectionsPage.day(of: Moment(seconds: 1_798_718_400), in: language).string.contains("31 "))
    }

    @Test func `a user signs in, sees each client with its scopes, and removes one`() async throws {
        try await Self.agree(visitor, to: [OAuthClients.google, OAuthClients.shop])
        visitor.setCookie("__Host-siwa_session", nil)
        let redirect = try await visitor.get("\(Self.path)?\(Self.app)").expecting(303)
        let arrival = try await visitor.arrival(after: redirect)
        #expect(arrival == "\(Self.path)?\(Self.app)")
        let page = try await visitor.get(arrival).expecting(200)
        for text in [
            "<bdi>Google</bdi>", "<bdi>Example Shop</bdi>", "<li>Control your devices</li>",
            "<li>Recognize you when you come back</li>", "Access since <bdi>1 January 2026</bdi>",
            "not used yet", #"aria-label="Remove access: Google""#, "Signed in as",
        ] { #expect(page.text.contains(text), "\(text)") }
        let forms = Self.forms(page)
        #expect(forms.count == 2)
        let answer = try await Self.post(visitor, token: forms[0].token, grant: forms[0].grant).expecting(303)
        #expect(answer["location"] == "\(Self.path)?\(Self.app)&removed=1")
        let rest = try await visitor.get(try #require(answer["location"]))
        #expect(rest.text.contains(#"role="status">The access was removed."#))
        #expect(!rest.text.contains("<bdi>Google</bdi>") && rest.text.contains("<bdi>Example Shop</bdi>"))
        // A second press of the same button is no mistake.
        #expect(try await Self.post(visitor, token: forms[0].token, grant: forms[0].grant).status == 303)
        let events = try await service.get("/v1/events")
        let last = try #require(events.json?["events"]?.array?.last)
        #expect(last["type"]?.string == "grant_revoked")
        #expect(last["grant"]?["reason"]?.string == "unlinked")
        _ = try await Self.post(visitor, token: forms[1].token, grant: forms[1].grant)
        let none = try await visitor.get("\(Self.path)?\(Self.app)")
        #expect(none.text.contains("No app or service has access") && !none.text.contains("<form"))
        let metrics = try await service.get("/metrics")
        for (outcome, count) in [("removed", 3), ("sign_in", 1), ("signed_in", 1), ("shown", 3)] {
            #expect(
                metrics.text.contains("siwa_oauth_connections_total{outcome=\"\(outcome)\"} \(count)\n"),
                "\(outcome)")
        }
    }

    @Test(arguments: [[OAuthClients.google, OAuthClients.shop], [OAuthClients.shop, OAuthClients.google]])
    func `clients of one moment are shown in the order of their IDs`(queries: [String]) async throws {
        try await Self.agree(visitor, to: queries)
        let page = try await visitor.get("\(Self.path)?\(Self.app)")
        let names = page.text.matches(of: #/aria-label="Remove access: ([^"]*)"/#).map { String($0.1) }
        #expect(names == ["Google", "Example Shop"])
    }

    @Test func `CSRF on removal: only the form of this session and this grant counts`() async throws {
        try await Self.agree(visitor, to: [OAuthClients.google, OAuthClients.shop])
        let forms = Self.forms(try await visitor.get("\(Self.path)?\(Self.app)"))
        let consent = try ConsentView(try await visitor.authorize(OAuthClients.google))
        let other = AuthorizeVisitor(service)
        try await Self.agree(other, to: [OAuthClients.google])
        let foreign = Self.forms(try await other.get("\(Self.path)?\(Self.app)"))
        for token in [nil, "", "x", forms[1].token, consent.token, foreign[0].token] as [String?] {
            let answer = try await Self.post(visitor, token: token, grant: forms[0].grant)
            #expect(answer.status == 403 && answer.text.contains("form_refused"), "\(token ?? "none")")
        }
        let json = try await visitor.post("\(Self.path)?\(Self.app)", text: "{}", type: "application/json")
        #expect(json.status == 403)
        visitor.setCookie("__Host-siwa_session", nil)
        let stranger = try await Self.post(visitor, token: forms[0].token, grant: forms[0].grant)
        #expect(stranger.status == 403 && stranger.text.contains("login_required"))
        #expect(try await Self.forms(other.get("\(Self.path)?\(Self.app)")).count == 2)
    }

    @Test func `clickjacking: the page cannot be framed, and posts to this service alone`() async throws {
        try await Self.agree(visitor, to: [OAuthClients.shop])
        let page = try await visitor.get("\(Self.path)?\(Self.app)")
        let policy = try #require(page["content-security-policy"])
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self';"))
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        expect(page.fields, has: ["x-frame-options": "DENY", "referrer-policy": "no-referrer"])
        #expect(page["cache-control"]?.contains("no-store") == true)
        #expect(!page.text.contains("<script"))
    }

    @Test func `a session that a revocation has ended removes nothing and shows nothing`() async throws {
        try await Self.agree(visitor, to: [OAuthClients.shop])
        let forms = Self.forms(try await visitor.get("\(Self.path)?\(Self.app)"))
        let revoked = try await service.post(
            "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(revoked.status == 200)
        let answer = try await Self.post(visitor, token: forms[0].token, grant: forms[0].grant)
        // The revocation has ended the grant already.
        #expect(answer.status == 303 || answer.status == 403)
        let page = try await visitor.get("\(Self.path)?\(Self.app)")
        #expect(page.status == 303 && page["location"]?.hasPrefix("https://appleid.apple.com/") == true)
    }

    @Test func `a sign-in that the user cancels at Apple leads to a page with a way back`() async throws {
        let redirect = try await visitor.get("\(Self.path)?\(Self.app)&ui_locales=tr")
        let state = WebVisitor.parameters(of: redirect["location"] ?? "")["state"] ?? ""
        let denied = try await WebVisitor(service).post(
            [("error", "user_cancelled_authorize"), ("state", state)])
        let page = try await visitor.get(WebVisitor.target(of: try #require(denied["location"])))
        #expect(page.status == 403 && page.text.contains("login_required"))
        #expect(page.text.contains(AuthorizeTexts.of(.turkish).refusals.signInNeeded.title))
        #expect(page.text.contains("href=\"\(Self.path)?\(Self.app)&amp;ui_locales=tr\""))
    }

    @Test func `where several apps have clients the page asks, and an unknown app has no page`() async throws
    {
        let second = RunningService.Options(
            hasOAuth: true,
            oauth: { draft in
                draft.clients[1].app = RunningService.secondClientID
                draft.appNames = [TokenMint.clientID: ["en": "First <App>"]]
            })
        try await RunningService.with(second) { service in
            let visitor = AuthorizeVisitor(service)
            let page = try await visitor.get(Self.path).expecting(200)
            #expect(page.text.contains("<bdi>First &lt;App&gt;</bdi>"))
            #expect(page.text.contains("href=\"\(Self.path)?\(Self.app)\""))
            #expect(page.text.contains("href=\"\(Self.path)?app=\(RunningService.secondClientID)\""))
            #expect(page["content-security-policy"]?.contains("form-action 'none'") == true)
            for query in ["app=com.example.other", "app=%3Cscript%3E", "app=com.example.web"] {
                let unknown = try await visitor.get("\(Self.path)?\(query)")
                #expect(unknown.status == 404 && unknown.text.contains("not_found"), "\(query)")
                #expect(!unknown.text.contains("<script"))
            }
        }
        // One app needs no choice.
        #expect(try await visitor.get(Self.path).status == 303)
    }

    @Test func `a web view inside another app gets the address to open in a browser`() async throws {
        visitor.fields["User-Agent"] =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148"
        let page = try await visitor.get("\(Self.path)?\(Self.app)")
        #expect(page.status == 403 && page.text.contains("disallowed_useragent"))
        let address = page.text.replacing("<wbr>", with: "")
        #expect(address.contains("https://siwa.test\(Self.path)?\(Self.app)"))
    }

    @Test(arguments: PageLanguage.allCases)
    func `the texts of a language have the same values, and the consent page has the link`(
        language: PageLanguage
    ) async throws {
        func values(_ texts: ConnectionsTexts) -> [[String]] {
            Mirror(reflecting: texts).children.compactMap { $0.value as? String }
                .map { $0.matches(of: /\{\w+\}/).map { String($0.0) }.sorted() }
        }
        #expect(values(.of(language)) == values(.of(.english)))
        let query = "\(OAuthClients.shop)&ui_locales=\(language.rawValue)"
        let consent = try await visitor.consentPage(query)
        let link = "\(Self.path)?\(Self.app)&ui_locales=\(language.rawValue)"
        #expect(consent.response.text.contains("href=\"\(link.replacing("&", with: "&amp;"))\""))
        let page = try await visitor.get(link)
        #expect(page["content-language"] == language.rawValue)
        #expect(page.text.contains("<h1>\(ConnectionsTexts.of(language).title)</h1>"))
    }

    @Test func `the app's backend ends all grants at once, for the apps that its key may see`() async throws {
        try await Self.agree(visitor, to: [OAuthClients.google, OAuthClients.shop])
        let store = try service.memory
        let id = try #require(try await service.account()).id
        let target = "/v1/accounts/\(id.rawValue)/grants"
        #expect(try await service.call("DELETE", target, secret: nil).status == 401)
        let limited = try await service.call("DELETE", target, secret: RunningService.limitedSecret)
        #expect(limited.status == 404 || limited.status == 204)
        #expect(try await store.grants(of: id).count == 2)
        #expect(try await service.call("DELETE", "\(target)?x=1").status == 400)
        #expect(try await service.call("DELETE", target).status == 204)
        #expect(try await store.grants(of: id).isEmpty)
        #expect(try await service.call("DELETE", target).status == 204)
        let events = try await service.get("/v1/events")
        let revoked = events.json?["events"]?.array?.count { $0["type"]?.string == "grant_revoked" }
        #expect(revoked == 2)
        let unknown = "/v1/accounts/acc_01a1fbea-fd31-77cb-bae8-b913bd619922/grants"
        #expect(try await service.call("DELETE", unknown).status == 404)
    }
}
