import AuthorizationServer
import HTTPEngine
import Testing
import TokenMint

@testable import HTTPAPI

/// Pages in languages of a deployment: French, and Hebrew from right to left.
@Suite struct TranslatedPageTests {
    private static func draft(_ tag: String, _ own: [String: String]) -> TranslationDraft {
        let mark = tag.uppercased()
        let texts = TranslationDraft.texts(of: PageTexts.parts).map { ($0.path, "\(mark) \($0.text)") }
        return TranslationDraft(
            file: "\(tag).yaml", tag: tag,
            texts: Dictionary(uniqueKeysWithValues: texts).merging(own) { _, own in own })
    }

    static func languages() throws -> PageLanguages {
        let (languages, mistakes) = PageLanguages.check(
            [
                draft(
                    "fr",
                    [
                        "authorize.consent.title": "{client} demande l’accès à votre compte {app}",
                        "authorize.consent.allow": "Autoriser", "authorize.consent.cancel": "Annuler",
                        "scopes.profile": "Voir votre nom",
                        "logout.title": "Se déconnecter ?",
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

    private static func with(
        _ body: @Sendable (RunningService, AuthorizeVisitor) async throws -> Void
    ) async throws {
        var options = RunningService.Options(oauth: { $0.clients[1].name["fr"] = "La boutique" })
        options.hasOAuth = true
        options.languages = try languages()
        try await RunningService.with(options) { try await body($0, AuthorizeVisitor($0)) }
    }

    @Test func `a page is in the language that the request or the browser asks for`() async throws {
        try await Self.with { service, visitor in
            let french = try await visitor.consentPage(OAuthClients.shop + "&ui_locales=de%20fr-CA%20en")
                .response
            #expect(french.text.contains(#"<html lang="fr" dir="ltr">"#))
            #expect(french["content-language"] == "fr")
            #expect(french.text.contains("<bdi>La boutique</bdi> demande l’accès à votre compte"))
            #expect(
                french.text.contains(">Autoriser</button>") && french.text.contains("<li>Voir votre nom</li>")
            )
            #expect(french.text.contains("/account/connections?app=\(TokenMint.clientID)&amp;ui_locales=fr"))
            visitor.fields["Accept-Language"] = "de-DE,he-IL;q=0.9,en;q=0.8"
            let hebrew = try await visitor.authorize(OAuthClients.shop)
            #expect(hebrew.text.contains(#"<html lang="he" dir="rtl">"#))
            // A text without Hebrew falls back to English, as the client's name does.
            #expect(hebrew.text.contains("<bdi>Example Shop</bdi> מבקש גישה לחשבון"))
            let polish = try await visitor.authorize(OAuthClients.shop + "&ui_locales=pl")
            #expect(polish["content-language"] == "pl")
        }
    }

    @Test func `every page has the language, and the metadata name it`() async throws {
        try await Self.with { service, visitor in
            let page = try await visitor.consentPage(OAuthClients.shop + "&ui_locales=he")
            #expect(try await visitor.answer(page, "agree").status == 303)
            let app = "app=\(TokenMint.clientID)"
            let list = try await visitor.get("/account/connections?\(app)&ui_locales=he")
            #expect(list.text.contains("גישה מאז <bdi dir=\"ltr\">2026-01-01</bdi>"))
            #expect(list.text.contains("ui_locales=he\">"))
            let logout = try await visitor.get("/oauth/logout?ui_locales=fr")
            #expect(
                logout.text.contains("<h1>Se déconnecter ?</h1>") && logout.text.contains("FR Stay signed in")
            )
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
    }

    @Test func `every text of every part reaches its place`() throws {
        let languages = try Self.languages()
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
