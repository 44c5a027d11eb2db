import AppleAccounts
import AuthorizationServer
import Encodings
import StorageConformance
import TestSupport
import Testing
import TokenMint

@testable import HTTPAPI

/// The page for a user whose account is disabled, and a user who was signed out everywhere.
@Suite struct DisabledAccountPageTests {
    private static func account(_ service: RunningService) async throws -> Account {
        let store = try #require(service.store as? ReferenceStore)
        let key = SubjectKey(
            team: try RunningService.id(RunningService.team),
            subject: try #require(AppleSubject(TokenMint.subject)))
        return try #require(try await store.account(key))
    }

    private static func disable(_ service: RunningService) async throws {
        let id = try await account(service).id.rawValue
        let response = try await service.call(
            "POST", "/v1/accounts/\(id)/disable", body: #"{"reason":"abuse"}"#)
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
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
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
    }

    @Test func `a user who signs in at Apple sees the page too, and has no session`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            _ = try await AuthorizeVisitor(service).consentPage(OAuthClients.desktop)
            try await Self.disable(service)
            let visitor = AuthorizeVisitor(service)
            let ticket = try await visitor.ticket(
                after: try await visitor.authorize(OAuthClients.desktop))
            let page = try await visitor.get(WebVisitor.target(of: ticket))
            try Self.expectPage(page)
            #expect(try Self.button(page).hasPrefix("com.example.app:/cb?"))
            #expect(!visitor.cookies.keys.contains { $0.contains("session") })
        }
    }

    @Test func `consent that was asked for before gives the page and no code`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
            let consent = try await visitor.consentPage(OAuthClients.shop)
            try await Self.disable(service)
            try Self.expectPage(try await visitor.answer(consent, "agree"))
        }
    }

    @Test func `without a page the client gets access_denied at once`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
            _ = try await visitor.consentPage(OAuthClients.shop)
            try await Self.disable(service)
            let silent = try await visitor.authorize(OAuthClients.shop + "&prompt=none")
            #expect(AuthorizeFlowTests.parameters(silent)["error"] == "access_denied")
        }
    }

    @Test func `a session from before a sign-out needs a new sign-in`() async throws {
        try await RunningService.with(AuthorizeFlowTests.oauth) { service in
            let visitor = AuthorizeVisitor(service)
            let consent = try await visitor.consentPage(OAuthClients.shop)
            let id = try await Self.account(service).id.rawValue
            _ = try await service.call("POST", "/v1/accounts/\(id)/sign-out", body: "{}")
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
}
