import AppleAccounts
import AuthorizationServer
import Encodings
import Foundation
import NIOHTTP1
import StorageConformance
import Testing
import TokenMint

@testable import HTTPAPI
@testable import OAuth

/// What people read.
@Suite struct ConsentPageTests {
    private static func request(_ query: String) throws -> (OAuthSettings, AuthorizationRequest) {
        let deployment = try Deployment(apps: [
            App(
                team: try RunningService.id("A1B2C3D4E5"),
                primaryClientID: try RunningService.id(TokenMint.clientID))
        ])
        let settings = try OAuthClients.settings(in: deployment, issuer: "https://siwa.test")
        let decision = AuthorizationRequestCheck(settings).check(query.utf8, as: .query, userAgent: nil)
        guard case .proceed(let request) = decision else { throw RunningService.NoName() }
        return (settings, request)
    }

    static func page(
        _ query: String, _ language: PageLanguage, _ change: (inout Account) -> Void = { _ in }
    ) throws -> HTTPResponse {
        let (settings, request) = try request(query)
        var account = Account(
            id: AccountID(UniqueID(high: 1, low: 2)), team: try RunningService.id("A1B2C3D4E5"),
            subject: "001234.a.0123", email: "ada@example.com",
            isEmailVerified: true,
            isPrivateEmail: false, profile: Profile(firstName: "Ada", lastName: "Lovelace"),
            createdAt: Moment(seconds: 1))
        change(&account)
        let prompt = ConsentPrompt(
            request, query: query, account: account, scopes: settings.scopes.declarations(of: request.scopes),
            formToken: "token")
        return ConsentPage(prompt: prompt, language: language).response
    }

    private static func text(_ response: HTTPResponse) -> String {
        String(decoding: response.body, as: UTF8.self)
    }

    @Test(arguments: PageLanguage.allCases)
    func `a page says its language and its direction`(language: PageLanguage) throws {
        let text = Self.text(try Self.page(OAuthClients.google, language))
        let direction = language == .arabic ? "rtl" : "ltr"
        #expect(text.contains("<html lang=\"\(language.rawValue)\" dir=\"\(direction)\">"))
        #expect(text.split(separator: "<body>").last?.contains("{") == false)
    }

    @Test(arguments: PageLanguage.allCases)
    func `Google's page says what Google's review wants`(language: PageLanguage) throws {
        let text = Self.text(try Self.page(OAuthClients.google, language))
        let texts = AuthorizeTexts.of(language).consent
        for expected in [
            texts.titleForGoogle, texts.purposeForGoogle, texts.googlePolicyName, texts.agree, texts.cancel,
        ] {
            #expect(text.contains(expected.htmlEscaped))
        }
        #expect(text.contains("https://policies.google.com/privacy"))
        #expect(text.contains("https://myaccount.google.com/connections"))
        let other = Self.text(try Self.page(OAuthClients.shop, language))
        #expect(!other.contains("google"))
    }

    @Test func `the page says which address is shared, or that it is hidden`() throws {
        let shared = Self.text(try Self.page(OAuthClients.google, .english))
        #expect(shared.contains("Google</bdi> gets your email address <bdi>ada@example.com</bdi>."))
        let hidden = try Self.page(OAuthClients.google, .english) {
            $0.email = "q4@privaterelay.appleid.com"
            $0.isPrivateEmail = true
        }
        #expect(Self.text(hidden).contains("Your own email address stays hidden."))
        #expect(Self.text(hidden).contains("<bdi>q4@privaterelay.appleid.com</bdi>"))
        let unknown = try Self.page(OAuthClients.google, .english) { $0.email = nil }
        #expect(Self.text(unknown).contains("gets no email address, because none is known here"))
        let notAsked = Self.text(try Self.page(OAuthClients.shop, .english))
        #expect(notAsked.contains("does not get your email address"))
    }

    @Test func `client, purpose, scopes, hint and target are named`() throws {
        let text = Self.text(try Self.page(OAuthClients.shop + "&login_hint=grace%40example.com", .polish))
        for expected in [
            "<bdi>Sklep</bdi>", "Shows your orders.", "<li>Wyświetlanie Twojego imienia i nazwiska</li>",
            "<bdi>grace@example.com</bdi>", "<bdi>shop.example.com</bdi>", "<bdi>Ada Lovelace</bdi>",
        ] { #expect(text.contains(expected), "\(expected)") }
    }

    @Test func `all languages have the same values in each text`() {
        func values(_ texts: Any) -> [String: Set<String>] {
            var found: [String: Set<String>] = [:]
            for (label, value) in Mirror(reflecting: texts).children {
                guard let label else { continue }
                if let text = value as? String {
                    found[label] = Set(text.matches(of: /\{\w+\}/).map { String($0.0) })
                    #expect(!text.isEmpty)
                } else {
                    for (name, inner) in values(value) { found["\(label).\(name)"] = inner }
                }
            }
            return found
        }
        let english = values(AuthorizeTexts.english)
        #expect(english.count > 35)
        for language in PageLanguage.allCases { #expect(values(AuthorizeTexts.of(language)) == english) }
    }

    /// `SIWA_PAGES=folder` also writes the pages as files, to be looked at in a browser.
    @Test func `every page is whole in every language, and has no script`() throws {
        let folder = ProcessInfo.processInfo.environment["SIWA_PAGES"]
        for language in PageLanguage.allCases {
            let texts = AuthorizeTexts.of(language).refusals
            let pages: [(String, HTTPResponse)] = [
                ("google", try Self.page(OAuthClients.google + "&login_hint=grace%40example.com", language)),
                ("shop", try Self.page(OAuthClients.shop, language)),
                (
                    "desktop",
                    try Self.page(OAuthClients.desktop, language) {
                        $0.profile = Profile()
                        $0.email = "q4zjk7x2rt@privaterelay.appleid.com"
                        $0.isPrivateEmail = true
                    }
                ),
                (
                    "mismatch",
                    AuthorizeRefusalPage(
                        refusal: texts.redirectURIMismatch, status: .badRequest,
                        code: "redirect_uri_mismatch",
                        language: language, found: "https://shop.example.com/callback?from=siwa"
                    ).response
                ),
                (
                    "webview",
                    AuthorizeRefusalPage(
                        refusal: texts.embeddedBrowser, status: .forbidden, code: "disallowed_useragent",
                        language: language, address: "https://siwa.test/oauth/authorize?\(OAuthClients.shop)"
                    ).response
                ),
                (
                    "form",
                    AuthorizeRefusalPage(
                        FormRefusal(code: .formRefused, query: "a", languages: RequestedLanguages()),
                        language: language, cookie: nil
                    ).response
                ),
            ]
            for (name, response) in pages {
                let text = Self.text(response)
                #expect(text.hasPrefix("<!doctype html>") && text.contains("</html>"))
                #expect(text.contains("<html lang=\"\(language.rawValue)\""))
                #expect(!text.contains("<script"))
                guard let folder else { continue }
                try text.write(
                    toFile: "\(folder)/\(name)-\(language.rawValue).html", atomically: true, encoding: .utf8)
            }
        }
    }
}
