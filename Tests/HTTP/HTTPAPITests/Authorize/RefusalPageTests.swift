import AuthorizationServer
import Encodings
import HTTPEngine
import NIOHTTP1
import SignIn
import Testing
import TokenMint

@testable import HTTPAPI

/// The pages for users whose sign-in does not go on, and the refusals without a page.
@Suite struct RefusalPageTests {
    private static let browser = [
        "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "Accept-Language": "pl",
    ]

    @Test(arguments: ["ui_locales=ar", "user_locale=ar-EG"])
    func `after Apple's pages a user keeps the language of the request`(language: String) async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
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
    }

    @Test func `a form that Apple did not send is refused in the browser's language`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
            visitor.fields["Accept-Language"] = "tr"
            let answer = try await visitor.post("/v1/web/callback", [("state", "x")])
            #expect(answer.status == 400 && answer["content-language"] == "tr")
            #expect(answer.text.contains(AuthorizeTexts.of(.turkish).refusals.signInUnknown.title))
        }
    }

    @Test(arguments: ["/v1/web/callback", "/v1/web/finish"])
    func `on the way back from Apple every error is a page for browsers`(path: String) async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let page = try await service.call("DELETE", path, secret: nil, fields: Self.browser)
            #expect(page.status == 405 && page["content-type"] == "text/html; charset=utf-8")
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.requestUnreadable.title))
            let answer = try await service.call("DELETE", path, secret: nil)
            #expect(answer.status == 405 && answer["content-type"] == "application/problem+json")
        }
    }

    @Test func `every refusal at the authorization endpoint has the ID of its request`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
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
    }

    @Test(arguments: ["/", "/favicon.ico", "/docs", "/v2/accounts", "/oauth/unknown", "/link/google/a"])
    func `a browser is told on a page that there is none, and a program in JSON`(path: String) async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let page = try await service.call("GET", path, secret: nil, fields: Self.browser)
            #expect(page.status == 404 && page["content-type"] == "text/html; charset=utf-8")
            #expect(page["content-language"] == "pl")
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
            #expect(page["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            let requestID = try #require(page["x-request-id"])
            #expect(
                page.text.contains("<bdi dir=\"ltr\">not_found</bdi> · <bdi dir=\"ltr\">\(requestID)</bdi>"))
            for accept in ["*/*", "application/json", "application/json, text/plain, */*"] {
                let answer = try await service.call("GET", path, secret: nil, fields: ["Accept": accept])
                #expect(answer.status == 404 && answer["content-type"] == "application/problem+json")
            }
            let posted = try await service.call("POST", path, body: "{}", secret: nil, fields: Self.browser)
            #expect(posted["content-type"] == "application/problem+json")
        }
    }

    @Test func `a link of App Flip that no app has opened says so`() async throws {
        var options = AuthorizeFlowTests.oauth
        options.hasOAuth = true
        try await RunningService.with(options) { service in
            let page = try await service.call("GET", "/link/google/a?b=c", secret: nil, fields: Self.browser)
            #expect(page.status == 404)
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.linkOfApp.title))
            let other = try await service.call("GET", "/oauth/unknown", secret: nil, fields: Self.browser)
            #expect(other.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
            let program = try await service.call("GET", "/oauth/unknown", secret: nil)
            #expect(program.status == 404 && program["content-type"]?.hasPrefix("application/json") == true)
        }
        try await RunningService.with { service in
            let page = try await service.call("GET", "/link/google/a", secret: nil, fields: Self.browser)
            #expect(page.text.contains(AuthorizeTexts.of(.polish).refusals.pageUnknown.title))
        }
    }

    @Test(arguments: PageLanguage.allCases)
    func `every code has a text, and no page shows one for developers`(language: PageLanguage) {
        let problems =
            ProblemCode.all.map { Problem($0) }
            + WebRefusal.Code.allCases.map { WebRefusal($0).problem }
        for problem in problems {
            let response = RefusalPage.response(to: problem, requestID: "req_1", language: language)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == problem.status && response.code == problem.code)
            #expect(!text.contains(problem.detail.htmlEscaped))
        }
    }
}
