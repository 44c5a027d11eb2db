import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPEngine
import NIOHTTP1
import StorageConformance
import TestSupport
import Testing

@testable import HTTPAPI

/// The pages for users whose sign-in does not go on, and the refusals without a page.
@Suite(.service(.authorize)) struct RefusalPageTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    private static let browser = [
        "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "Accept-Language": "pl",
    ]

    @Test(arguments: ["ui_locales=ar", "user_locale=ar-EG"])
    func `after Apple's pages a user keeps the language of the request`(language: String) async throws {
        visitor.fields["Accept-Language"] = "en"
        let redirect = try await visitor.authorize("\(OAuthClients.shop)&\(language)")
        let ticket = WebVisitor.target(of: try await visitor.ticket(after: redirect))
        let other = AuthorizeVisitor(service)
        let answer = try await other.get(ticket)
        let texts = AuthorizeTexts.of(.arabic).refusals.otherBrowser
        #expect(answer.status == 400 && answer["content-language"] == "ar")
        #expect(answer.text.contains("<html lang=\"ar\" dir=\"rtl\">"))
        #expect(answer.text.contains(texts.title) && answer.text.contains(texts.advice))
        let requestID = try #require(answer["x-request-id"])
        #expect(
            answer.text.contains(
                "<bdi dir=\"ltr\">web_browser_mismatch</bdi> · <bdi dir=\"ltr\">\(requestID)</bdi>"))
    }

    @Test func `a form that Apple did not send is refused in the browser's language`() async throws {
        visitor.fields["Accept-Language"] = "tr"
        let answer = try await visitor.post("/v1/web/callback", [("state", "x")])
        #expect(answer.status == 400 && answer["content-language"] == "tr")
        #expect(answer.text.contains(AuthorizeTexts.of(.turkish).refusals.signInUnknown.title))
    }

    @Test(arguments: ["/v1/web/callback", "/v1/web/finish"])
    func `on the way back from Apple every error is a page for browsers`(path: String) async throws {
        let page = try await service.call("DELETE", path, secret: nil, fields: Self.browser)
        #expect(page.status == 405 && page["content-type"] == "text/html; charset=utf-8")
        #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.requestUnreadable.title))
        let answer = try await service.call("DELETE", path, secret: nil)
        #expect(answer.status == 405 && answer["content-type"] == "application/problem+json")
    }

    @Test func `every refusal at the authorization endpoint has the ID of its request`() async throws {
        let pages = [
            try await visitor.authorize("client_id=unknown&ui_locales=tr"),
            try await visitor.authorize(OAuthClients.shop.replacing("cb", with: "other")),
            try await visitor.post("/oauth/authorize?\(OAuthClients.shop)", [("decision", "agree")]),
            try await visitor.post("/oauth/authorize", text: ""),
            try await service.call("DELETE", "/oauth/authorize?ui_locales=tr", secret: nil),
        ]
        for page in pages {
            let requestID = try #require(page["x-request-id"])
            #expect(page.text.contains("</bdi> · <bdi dir=\"ltr\">\(requestID)</bdi>"), "\(page.text)")
        }
        #expect(pages.map { $0["content-language"] } == ["tr", "en", "en", "en", "tr"])
    }

    @Test(arguments: ["/", "/favicon.ico", "/docs", "/v2/accounts", "/oauth/unknown", "/link/google/a"])
    func `a browser is told on a page that there is none, and a program in JSON`(path: String) async throws {
        let page = try await service.get(path, secret: nil, fields: Self.browser)
        #expect(page.status == 404 && page["content-type"] == "text/html; charset=utf-8")
        #expect(page["content-language"] == "pl")
        #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
        #expect(page["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
        let requestID = try #require(page["x-request-id"])
        #expect(page.text.contains("<bdi dir=\"ltr\">not_found</bdi> · <bdi dir=\"ltr\">\(requestID)</bdi>"))
        for accept in ["*/*", "application/json", "application/json, text/plain, */*"] {
            let answer = try await service.get(path, secret: nil, fields: ["Accept": accept])
            #expect(answer.status == 404 && answer["content-type"] == "application/problem+json")
        }
        let posted = try await service.post(path, body: "{}", secret: nil, fields: Self.browser)
        #expect(posted["content-type"] == "application/problem+json")
    }

    @Test func `a link of App Flip that no app has opened says so`() async throws {
        var options = RunningService.Options.authorize
        options.hasOAuth = true
        try await RunningService.with(options) { service in
            let page = try await service.get("/link/google/a?b=c", secret: nil, fields: Self.browser)
            #expect(page.status == 404)
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.linkOfApp.title))
            let other = try await service.get("/oauth/unknown", secret: nil, fields: Self.browser)
            #expect(other.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
            let program = try await service.get("/oauth/unknown", secret: nil)
            #expect(program.status == 404 && program["content-type"]?.hasPrefix("application/json") == true)
        }
        try await RunningService.with { service in
            let page = try await service.get("/link/google/a", secret: nil, fields: Self.browser)
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
        }
    }

    @Test(arguments: PageLanguage.allCases)
    func `every code has a text, and no page shows one for developers`(language: PageLanguage) {
        for problem in ProblemType.all.map({ Problem($0) }) {
            let response = RefusalPage.response(to: problem, requestID: "req_1", language: language)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == problem.status && response.code == problem.code)
            #expect(!text.contains(problem.detail.htmlEscaped))
        }
    }
}

/// The page for a user whose account is disabled, and a user who was signed out everywhere.
@Suite(.service(.authorize)) struct DisabledAccountPageTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    private static func disable(_ service: RunningService) async throws {
        let id = try #require(try await service.account()).id.rawValue
        let response = try await service.post("/v1/accounts/\(id)/disable", body: #"{"reason":"abuse"}"#)
        try #require(response.status == 200)
    }

    /// The URL of the page's button.
    private static func button(_ page: ProbeResponse) throws -> String {
        try #require(page.text.firstMatch(of: #/<a class="button main"[^>]* href="([^"]*)"/#)).1.htmlUnescaped
    }

    private static func expectPage(_ page: ProbeResponse, language: PageLanguage = .english) throws {
        let texts = AuthorizeTexts.of(language)
        #expect(page.status == 403 && page["content-language"] == language.rawValue)
        #expect(page.text.contains(texts.refusals.accountDisabled.title.htmlEscaped))
        #expect(page.text.contains(texts.refusals.accountDisabled.advice.htmlEscaped))
        #expect(page.text.contains("<bdi dir=\"ltr\">account_disabled</bdi>"))
        let parameters = WebVisitor.parameters(of: try button(page))
        #expect(parameters["error"] == "access_denied" && parameters["state"] == "a+b+c")
    }

    @Test(arguments: PageLanguage.allCases)
    func `a user with a session sees the page, whose button leads back with access_denied`(
        language: PageLanguage
    ) async throws {
        visitor.fields["Accept-Language"] = language.rawValue
        _ = try await visitor.consentPage(OAuthClients.shop)
        try await Self.disable(service)
        let page = try await visitor.authorize(OAuthClients.shop)
        try Self.expectPage(page, language: language)
        #expect(try Self.button(page).hasPrefix(OAuthClients.shopURI + "?"))
        // The session has ended, so that another account can sign in.
        let next = try await visitor.authorize(OAuthClients.shop)
        #expect(next["location"]?.hasPrefix("https://appleid.apple.com/") == true)
    }

    @Test func `a user who signs in at Apple sees the page too, and has no session`() async throws {
        _ = try await AuthorizeVisitor(service).consentPage(OAuthClients.desktop)
        try await Self.disable(service)
        let ticket = try await visitor.ticket(after: try await visitor.authorize(OAuthClients.desktop))
        let page = try await visitor.get(WebVisitor.target(of: ticket))
        try Self.expectPage(page)
        #expect(try Self.button(page).hasPrefix("com.example.app:/cb?"))
        #expect(!visitor.cookies.keys.contains { $0.contains("session") })
    }

    @Test func `consent that was asked for before gives the page and no code`() async throws {
        let consent = try await visitor.consentPage(OAuthClients.shop)
        try await Self.disable(service)
        try Self.expectPage(try await visitor.answer(consent, "agree"))
    }

    @Test func `without a page the client gets access_denied at once`() async throws {
        _ = try await visitor.consentPage(OAuthClients.shop)
        try await Self.disable(service)
        let silent = try await visitor.authorize(OAuthClients.shop + "&prompt=none")
        #expect(AuthorizeFlowTests.parameters(silent)["error"] == "access_denied")
    }

    @Test func `a session from before a sign-out needs a new sign-in`() async throws {
        let consent = try await visitor.consentPage(OAuthClients.shop)
        let id = try #require(try await service.account()).id.rawValue
        _ = try await service.post("/v1/accounts/\(id)/sign-out", body: "{}")
        let stale = try await visitor.answer(consent, "agree")
        #expect(stale.status == 403 && stale.text.contains("login_required"))
        let redirect = try await visitor.authorize(OAuthClients.shop)
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/") == true)
        // Apple's word about the sign-in before is not enough.
        let old = try await visitor.signIn(after: redirect)
        #expect(AuthorizeFlowTests.parameters(old)["error"] == "login_required")
        let again = try await visitor.authorize(OAuthClients.shop)
        _ = try ConsentView(try await visitor.signIn(after: again, AuthorizeFlowTests.fresh))
    }
}
