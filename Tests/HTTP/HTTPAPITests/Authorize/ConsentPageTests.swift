import AppleAccounts
import AuthorizationServer
import Encodings
import Foundation
import HTTPEngine
import NIOHTTP1
import Pages
import SignIn
import StorageConformance
import Testing

@testable import HTTPAPI
@testable import OAuth

/// The texts of the consent page.
@Suite struct ConsentPageTests {
    private static func request(
        _ query: String, _ change: (inout OAuthDraft) -> Void
    ) throws -> (OAuthSettings, AuthorizationRequest) {
        let settings = try OAuthClients.named(change)
        let decision = AuthorizationRequestCheck(settings).check(query.utf8, as: .query, userAgent: nil)
        guard case .proceed(let request) = decision else { throw RunningService.NoName() }
        return (settings, request)
    }

    static func page(
        _ query: String, _ language: PageLanguage, _ change: (inout Account) -> Void = { _ in },
        isDevelopment: Bool = false, configuration: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> HTTPResponse {
        let (settings, request) = try request(query, configuration)
        var account = Account(
            id: AccountID(UniqueID(high: 1, low: 2)), team: try RunningService.id("A1B2C3D4E5"),
            subject: "001234.a.0123", email: "ada@example.com", isEmailVerified: true, isPrivateEmail: false,
            profile: Profile(firstName: "Ada", lastName: "Lovelace"), createdAt: Moment(seconds: 1))
        change(&account)
        let prompt = ConsentPrompt(
            request, query: query, appName: settings.appName(of: request.client.app), account: account,
            scopes: settings.scopes.declarations(of: request.scopes), formToken: "token",
            isExplained: isDevelopment)
        return ConsentPage(prompt: prompt, language: language).response
    }

    @Test func `a client's picture and links are on its page, and the policy allows such pictures alone`()
        throws
    {
        let plain = try Self.page(OAuthClients.shop, .english)
        #expect(!Self.text(plain).contains("<img"))
        #expect(
            plain.fields.contains {
                "\($0.name)" == "content-security-policy" && !$0.value.contains("img-src")
            })
        let page = try Self.page(
            OAuthClients.shop, .polish,
            configuration: {
                $0.clients[1].logoFile = "logo"
                $0.clients[1].policyURI = "https://shop.example.com/privacy?a=1&b=2"
                $0.clients[1].termsURI = "https://shop.example.com/terms"
            })
        let text = Self.text(page)
        #expect(
            text.contains("alt=\"\" width=\"48\" height=\"48\" src=\"data:image/svg+xml;base64,PHN2Zy8+\""))
        #expect(text.contains("href=\"https://shop.example.com/privacy?a=1&amp;b=2\" rel=\"noreferrer\""))
        #expect(text.contains(">Polityka prywatności</a> · <a href=\"https://shop.example.com/terms\""))
        #expect(
            page.fields.contains {
                "\($0.name)" == "content-security-policy" && $0.value.hasSuffix("; img-src data:")
            })
    }

    @Test func `a developer learns on the page that openid is missing, and users do not`() throws {
        let query = OAuthClients.shop + "&scope=profile"
        let notice = "but not openid"
        #expect(try !Self.text(Self.page(query, .english)).contains(notice))
        #expect(try Self.text(Self.page(query, .english, isDevelopment: true)).contains(notice))
        let whole = try Self.page(OAuthClients.shop, .english, isDevelopment: true)
        #expect(!Self.text(whole).contains(notice))
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
            texts.titleForGoogle, texts.purposeForGoogle, texts.googlePolicyName, texts.agreeAndLink,
            texts.cancel,
        ] {
            let name = language == .turkish ? "Örnek" : "Example"
            #expect(text.contains(expected.htmlEscaped.replacing("{app}", with: "<bdi>\(name)</bdi>")))
        }
        #expect(text.contains("https://policies.google.com/privacy"))
        #expect(text.contains("https://myaccount.google.com/connections"))
        let other = Self.text(try Self.page(OAuthClients.shop, language))
        #expect(!other.contains("google"))
    }

    @Test(arguments: [
        ("ada@example.com", "ada@example.com"),
        (
            "https://shop.example.com/callback?a=1&b=_",
            "https://shop<wbr>.example<wbr>.com<wbr>/callback<wbr>?a<wbr>=1<wbr>&amp;b<wbr>=<wbr>_"
        ), ("<script>@private.example.com", "&lt;script&gt;<wbr>@private<wbr>.example<wbr>.com"),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    ])
    func `a long address breaks before its signs`(address: String, html: String) {
        #expect(HTML.address(address).string == "<bdi>\(html)</bdi>")
        #expect(HTML.copied(address).string == "<code class=\"address\" dir=\"ltr\">\(html)</code>")
    }

    @Test func `the button that agrees differs from the other also in forced colors`() throws {
        let text = Self.text(try Self.page(OAuthClients.shop, .english))
        #expect(text.contains("@media (forced-colors:active){.main,.main:hover{forced-color-adjust:none"))
        #expect(text.contains("class=\"main\" name=\"decision\" value=\"agree\""))
        #expect(text.contains("<button name=\"decision\" value=\"cancel\">"))
    }

    @Test func `each language has one word for a thing`() {
        func texts(_ language: PageLanguage) -> String {
            "\(AuthorizeTexts.of(language)) \(ConnectionsTexts.of(language)) \(DeviceTexts.of(language)) \(LogoutTexts.of(language))"
        }
        // Turkish has two words for signing in, and Arabic had two for the makers of an app.
        #expect(!texts(.turkish).lowercased().contains("giriş"))
        #expect(texts(.turkish).contains("Hesabınız (ad ve e-posta adresi yok)"))
        #expect(texts(.arabic).contains("مطوّرو التطبيق") && !texts(.arabic).contains("صانع"))
        #expect(texts(.polish).contains("wygasną wszystkie uprawnienia dostępu, także to"))
        #expect(!texts(.polish).contains("dostępy"))
    }

    @Test func `the page says which address is shared, or that it is hidden`() throws {
        let shared = Self.text(try Self.page(OAuthClients.google, .english))
        #expect(shared.contains("See your email address<small><bdi>ada@example.com</bdi></small></li>"))
        let hidden = try Self.page(OAuthClients.google, .english) {
            $0.email = "q4@privaterelay.appleid.com"
            $0.isPrivateEmail = true
        }
        #expect(Self.text(hidden).contains("Your own address stays hidden."))
        #expect(Self.text(hidden).contains("<bdi>q4<wbr>@privaterelay<wbr>.appleid<wbr>.com</bdi>"))
        let unknown = try Self.page(OAuthClients.google, .english) { $0.email = nil }
        #expect(Self.text(unknown).contains("No address is known here, so none is shared."))
        let notAsked = Self.text(try Self.page(OAuthClients.shop, .english))
        #expect(notAsked.contains("does not get your email address"))
    }

    @Test(arguments: PageLanguage.allCases)
    func `the page says whose account it is about, and its button what it does`(language: PageLanguage) throws
    {
        let texts = AuthorizeTexts.of(language).consent
        let app = language == .turkish ? "Örnek" : "Example"
        let cases: [(query: String, client: String, isOwn: Bool, title: String, button: String)] = [
            (OAuthClients.google, "Google", false, texts.titleForGoogle, texts.agreeAndLink),
            (OAuthClients.desktop, "Example Desktop", false, texts.title, texts.allow),
            (OAuthClients.desktop, "Example Desktop", true, texts.titleForFirstParty, texts.goOn),
        ]
        for expected in cases {
            let page = try Self.page(
                expected.query, language,
                configuration: { draft in
                    for index in draft.clients.indices where draft.clients[index].id == "desktop" {
                        draft.clients[index].isFirstParty = expected.isOwn
                    }
                })
            let text = Self.text(page)
            let title = TextPiece.filled(expected.title, ["app": app, "client": expected.client])
            #expect(text.contains("<title>\(title.htmlEscaped)</title>"))
            #expect(text.contains("value=\"agree\">\(expected.button)</button>"))
            #expect(
                text.contains(
                    "<bdi>\(app)</bdi> <span aria-hidden=\"true\">↔</span> <bdi>\(expected.client)</bdi>"))
        }
    }

    /// A browser presses the first button of a form when Enter is pressed in a checkbox.
    @Test func `Enter in a checkbox agrees to nothing`() throws {
        let text = Self.text(try Self.page(OAuthClients.desktop, .english))
        let buttons = text.matches(of: /<button[^>]*>/).map { String($0.0) }
        #expect(buttons.count == 3)
        #expect(buttons.first == "<button hidden formmethod=\"dialog\">")
        #expect(buttons.dropFirst().first?.contains("value=\"cancel\"") == true)
        let form = try #require(text.firstRange(of: "<form"))
        #expect(text[form.upperBound...].contains("<button hidden formmethod=\"dialog\">"))
    }

    @Test(arguments: [
        (OAuthClients.desktop, "You then return to <bdi>com.example.app</bdi>."),
        (OAuthClients.shop, "You then return to <bdi>shop.example.com</bdi>."),
        (
            OAuthClients.loopback,
            "the program on this computer that opened this page (<bdi>127.0.0.1:9004</bdi>)."
        ),
    ])
    func `the page says before its buttons where the user goes then`(query: String, words: String) throws {
        let text = Self.text(try Self.page(query, .english))
        let place = try #require(text.firstRange(of: words))
        #expect(!text[..<place.lowerBound].contains("value=\"agree\""))
    }

    @Test(arguments: [
        ("grace@example.com", true), ("ADA@example.com", false), ("acc_x", true),
        (AccountID(UniqueID(high: 1, low: 2)).rawValue, false),
    ])
    func `a hint at another account is a notice above the scopes`(hint: String, isShown: Bool) throws {
        let query = OAuthClients.shop + "&login_hint=" + WebVisitor.encode(hint)
        let text = Self.text(try Self.page(query, .english))
        let notice = text.firstRange(of: "<p class=\"notice\">")
        #expect((notice != nil) == isShown)
        guard let notice, let scopes = text.firstRange(of: "class=\"scopes\"") else { return }
        #expect(notice.lowerBound < scopes.lowerBound)
    }

    /// Sizes in pixels do not change when a user makes text larger.
    @Test func `all sizes of text follow the user's`() throws {
        let text = Self.text(try Self.page(OAuthClients.shop, .english))
        let sizes = text.matches(of: /font(?:-size)?:([^;}]+)/).map { String($0.1) }
        #expect(sizes.count > 5 && !sizes.contains { $0.contains("px") })
    }

    /// The Polish "programista" is masculine, and Apple's own texts say „używając konta Apple".
    @Test func `the Polish texts speak to everyone, and of the Apple account as Apple does`() {
        for text in Self.texts(of: AuthorizeTexts.polish) {
            for word in ["programist", " z Apple", "przez Apple"] { #expect(!text.contains(word), "\(text)") }
        }
    }

    private static func texts(of value: Any) -> [String] {
        (value as? String).map { [$0] } ?? Mirror(reflecting: value).children.flatMap { texts(of: $0.value) }
    }

    @Test func `headings before lists end in a colon`() {
        for language in PageLanguage.allCases {
            #expect(AuthorizeTexts.of(language).consent.scopes.hasSuffix(":"))
        }
    }

    @Test func `client, purpose, scopes, hint and target are named`() throws {
        let text = Self.text(try Self.page(OAuthClients.shop + "&login_hint=grace%40example.com", .polish))
        for expected in [
            "<bdi>Sklep</bdi>", "<bdi>Example</bdi>", "Shows your orders.",
            "<li>Wyświetlanie Twojego imienia i nazwiska</li>",
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

    /// `SIWA_PAGES=folder` also writes the pages as files, for a look in a browser.
    @Test func `every page is whole in every language, and has no script`() throws {
        let folder = ProcessInfo.processInfo.environment["SIWA_PAGES"]
        for language in PageLanguage.allCases {
            let texts = AuthorizeTexts.of(language).refusals
            let pages: [(String, HTTPResponse)] = [
                ("google", try Self.page(OAuthClients.google + "&login_hint=grace%40example.com", language)),
                ("shop", try Self.page(OAuthClients.shop, language)),
                ("loopback", try Self.page(OAuthClients.loopback, language)),
                (
                    "own",
                    try Self.page(
                        OAuthClients.shop, language,
                        configuration: {
                            for index in $0.clients.indices where $0.clients[index].id == "shop" {
                                $0.clients[index].isFirstParty = true
                                $0.clients[index].scopes += ["email", "devices", "history", "offline_access"]
                            }
                        })
                ),
                (
                    "browser",
                    RefusalPage.response(
                        to: Problem(WebRefusal.Code.browserMismatch.type), requestID: "req_1",
                        language: language)
                ),
                (
                    "link",
                    RefusalPage.response(
                        to: Problem(.notFound), requestID: "req_1", language: language, isAppLink: true)
                ),
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
                        code: "redirect_uri_mismatch", requestID: "req_1", language: language,
                        found: "https://shop.example.com/callback?from=siwa"
                    ).response
                ),
                (
                    "webview",
                    AuthorizeRefusalPage(
                        refusal: texts.embeddedBrowser, status: .forbidden, code: "disallowed_useragent",
                        requestID: "req_1", language: language,
                        address: "https://siwa.test/oauth/authorize?\(OAuthClients.shop)"
                    ).response
                ),
                (
                    "form",
                    AuthorizeRefusalPage(
                        FormRefusal(code: .formRefused, query: "a", languages: RequestedLanguages()),
                        requestID: "req_1", language: language, cookie: nil
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
