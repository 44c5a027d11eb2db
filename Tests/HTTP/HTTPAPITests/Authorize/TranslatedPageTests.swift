import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPEngine
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import HTTPAPI
@testable import OAuth

private enum OwnLanguages {
    private static func draft(_ tag: String, _ own: [String: String]) -> TranslationDraft {
        let mark = tag.uppercased()
        let texts = TranslationDraft.texts(of: PageTexts.parts).map { ($0.path, "\(mark) \($0.text)") }
        return TranslationDraft(
            file: "\(tag).yaml", tag: tag,
            texts: Dictionary(uniqueKeysWithValues: texts).merging(own) { _, own in own })
    }

    static func make() throws -> PageLanguages {
        let (languages, mistakes) = PageLanguages.check(
            [
                draft(
                    "fr",
                    [
                        "authorize.consent.title": "{client} demande l’accès à votre compte {app}",
                        "authorize.consent.allow": "Autoriser", "authorize.consent.cancel": "Annuler",
                        "scopes.profile": "Voir votre nom", "logout.title": "Se déconnecter ?",
                    ]),
                draft(
                    "he",
                    [
                        "authorize.consent.title": "{client} מבקש גישה לחשבון {app} שלך",
                        "authorize.consent.allow": "אישור", "authorize.consent.cancel": "ביטול",
                        "connections.since": "גישה מאז {day}",
                    ]),
            ], parts: PageTexts.parts)
        try #require(mistakes == [], "\(mistakes.map(\.text))")
        return languages
    }
}

/// Pages in languages of a deployment: French, and Hebrew from right to left.
@Suite(
    .service(.oauth) { options in
        options.oauth = { $0.clients[1].name["fr"] = "La boutique" }
        options.languages = try OwnLanguages.make()
    })
struct TranslatedPageTests {
    let visitor = AuthorizeVisitor(.current)

    @Test func `a page is in the language that the request or the browser asks for`() async throws {
        let french = try await visitor.consentPage(OAuthClients.shop + "&ui_locales=de%20fr-CA%20en").response
        #expect(french.text.contains(#"<html lang="fr" dir="ltr">"#))
        #expect(french["content-language"] == "fr")
        #expect(french.text.contains("<bdi>La boutique</bdi> demande l’accès à votre compte"))
        #expect(
            french.text.contains(">Autoriser</button>") && french.text.contains("<li>Voir votre nom</li>"))
        #expect(french.text.contains("/account/connections?app=\(TokenMint.clientID)&amp;ui_locales=fr"))
        visitor.fields["Accept-Language"] = "de-DE,he-IL;q=0.9,en;q=0.8"
        let hebrew = try await visitor.authorize(OAuthClients.shop)
        #expect(hebrew.text.contains(#"<html lang="he" dir="rtl">"#))
        // A text without Hebrew falls back to English, as the client's name does.
        #expect(hebrew.text.contains("<bdi>Example Shop</bdi> מבקש גישה לחשבון"))
        let polish = try await visitor.authorize(OAuthClients.shop + "&ui_locales=pl")
        #expect(polish["content-language"] == "pl")
    }

    @Test func `every page has the language, and the metadata name it`() async throws {
        let page = try await visitor.consentPage(OAuthClients.shop + "&ui_locales=he")
        #expect(try await visitor.answer(page, "agree").status == 303)
        let app = "app=\(TokenMint.clientID)"
        let list = try await visitor.get("/account/connections?\(app)&ui_locales=he")
        #expect(list.text.contains("גישה מאז <bdi dir=\"ltr\">2026-01-01</bdi>"))
        #expect(list.text.contains("ui_locales=he\">"))
        let logout = try await visitor.get("/oauth/logout?ui_locales=fr")
        #expect(
            logout.text.contains("<h1>Se déconnecter ?</h1>") && logout.text.contains("FR Stay signed in"))
        visitor.fields["Accept-Language"] = "fr"
        visitor.fields["Accept"] = "text/html"
        for (target, text) in [
            ("/oauth/authorize?client_id=x", "FR This app is not known here"),
            ("/v1/web/finish?ticket=x", "FR This sign-in is not known here"),
            ("/account/nowhere", "FR There is no such page"),
            ("/account/connections?app=x", "FR There is no such page"),
        ] {
            let page = try await visitor.get(target)
            #expect(page["content-language"] == "fr", "\(target)")
            #expect(page.text.contains(text), "\(target): \(page.text.suffix(400))")
        }
    }

    @Test func `every text of every part reaches its place`() throws {
        let languages = try OwnLanguages.make()
        let french = try #require(languages.language(tag: "fr"))
        let (texts, english) = (AuthorizeTexts.of(french), AuthorizeTexts.of(.english))
        #expect(texts.refusals.linkOfApp.advice == "FR \(english.refusals.linkOfApp.advice)")
        #expect(texts.consent.unlink == "FR \(english.consent.unlink)")
        #expect(texts.backToClient == "FR \(english.backToClient)")
        #expect(
            ConnectionsTexts.of(french).formRefused.title
                == "FR \(ConnectionsTexts.english.formRefused.title)")
        #expect(LogoutTexts.of(french).stayed.advice == "FR \(LogoutTexts.english.stayed.advice)")
    }
}

/// The texts of the app's own sheet, compared with the consent page.
@Suite struct AppFlipPromptTextTests {
    private static func prompt(
        _ language: PageLanguage, isSignedIn: Bool = true, scope: String? = nil,
        _ change: (inout Account) -> Void = { _ in }, configuration: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> JSONValue {
        let settings = try OAuthClients.named(configuration)
        var call = AppFlipRequestBody()
        call.clientID = "google"
        call.redirectURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        call.state = "s"
        call.scope = scope
        call.userLocale = language.rawValue
        guard case .ask(let link) = AppFlipCheck(settings).link(call, caller: .all) else {
            throw RunningService.NoName()
        }
        var account = Account(
            id: AccountID(UniqueID(high: 1, low: 2)), team: try RunningService.id("A1B2C3D4E5"),
            subject: "001234.a.0123", email: "ada@example.com", isEmailVerified: true, isPrivateEmail: false,
            profile: Profile(firstName: "Ada", lastName: "Lovelace"), createdAt: Moment(seconds: 1))
        change(&account)
        let prompt = AppFlipPrompt.ask(LinkQuestion(link, settings, account: isSignedIn ? account : nil))
        let limits = JSONLimits(depth: 8, members: 64)
        return try #require(try JSONValue(parsing: prompt.json(), limits: limits)["prompt"])
    }

    /// Texts for the user, without the names of members and scopes and the targets of links.
    private static func texts(_ value: JSONValue) -> [String] {
        if let elements = value.array { return elements.flatMap(texts) }
        guard let object = value.object else { return value.string.map { [$0] } ?? [] }
        let others: Set = ["language", "direction", "scope", "url"]
        return object.members.filter { !others.contains($0.name) }.flatMap { texts($0.value) }
    }

    /// The page as the user reads it, escaped.
    private static func page(
        _ language: PageLanguage, _ change: (inout Account) -> Void = { _ in },
        configuration: (inout OAuthDraft) -> Void = { _ in }
    ) throws -> String {
        let response = try ConsentPageTests.page(
            OAuthClients.google, language, change, configuration: configuration)
        return String(decoding: response.body, as: UTF8.self).replacing(/<[^>]+>/, with: "")
    }

    static let addresses = ["ada@example.com", "q4@privaterelay.appleid.com", nil]

    @Test(arguments: PageLanguage.allCases, addresses)
    func `every text of the sheet is on the consent page`(language: PageLanguage, email: String?) throws {
        func change(_ account: inout Account) {
            account.email = email
            account.isPrivateEmail = email?.contains("privaterelay") ?? false
        }
        func configuration(_ draft: inout OAuthDraft) {
            draft.clients[0].purpose = ["en": "Links <your> \"devices\" & more."]
        }
        let page = try Self.page(language, change, configuration: configuration)
        let texts = Self.texts(try Self.prompt(language, change, configuration: configuration))
        #expect(texts.count >= 14)
        for text in texts {
            #expect(!text.isEmpty && !text.contains("{"))
            #expect(page.contains(text.htmlEscaped), "\(text)")
        }
    }

    @Test func `the sheet says what Google's review wants, and what can be left out`() throws {
        let prompt = try Self.prompt(.english)
        #expect(prompt["title"]?.string == "Link your Example account to Google")
        #expect(prompt["agree"]?.string == "Agree and link")
        #expect(prompt["cancel"]?.string == "Cancel")
        let links = prompt["notes"]?.array?.compactMap { $0["link"]?["url"]?.string }
        #expect(
            links == ["https://policies.google.com/privacy", "https://myaccount.google.com/connections"])
        for note in prompt["notes"]?.array ?? [] {
            if let link = note["link"]?["text"]?.string {
                #expect(note["text"]?.string?.contains(link) == true)
            }
        }
        let optional = prompt["scopes"]?.array?.map { $0["optional"]?.bool }
        #expect(optional == [false, false, true])
        #expect(prompt["optional_scopes_note"]?.string?.isEmpty == false)
        expect(prompt["account"], has: ["title": "Ada Lovelace", "subtitle": "ada@example.com"])
        #expect(prompt["scopes"]?.array?[1]["detail"]?.string == "ada@example.com")
    }

    @Test func `a user who has not signed in sees no account and no address`() throws {
        let prompt = try Self.prompt(.english, isSignedIn: false)
        #expect(prompt["account"] == nil)
        #expect(prompt["scopes"]?.array?.contains { $0["detail"] != nil } == false)
    }

    @Test func `without the scope of the address the sheet says that the address is not shared`() throws {
        let prompt = try Self.prompt(.english, scope: "openid")
        let first = prompt["notes"]?.array?.first?["text"]?.string
        #expect(first == "Google does not get your email address.")
        #expect(prompt["optional_scopes_note"] == nil)
    }
}
