import AppleAccounts
import AuthorizationServer
import OAuth
import Pages

/// The texts on a client's consent page that depend only on the client and the language.
final class ConsentPageTexts: Sendable {
    let title: String
    /// The texts that all clients share.
    let consent: AuthorizeTexts.Consent
    /// The part of the page before the user block.
    let start: HTML
    let loginHint: TextWithPlaces
    /// The part between the form token and the scope list.
    let scopesStart: HTML
    let optionalScopes: HTML
    /// The text below the `email` scope.
    let emailHidden: TextWithPlaces
    let emailUnknown: HTML
    let emailNotShared: HTML
    /// The part after the scope list.
    let notes: HTML
    /// The sentence that names the redirect's destination. `nil` on Google's page, which names no address.
    let returnsTo: TextWithPlaces?
    let returnsToProgram: TextWithPlaces?
    /// The buttons, and the end of the form.
    let formEnd: HTML

    init(client: OAuthClient, appName: LocalizedText, language: PageLanguage) {
        let texts = AuthorizeTexts.of(language).consent
        let isForGoogle = client.googleLinking != nil
        let (name, app) = (client.name[language], appName[language])
        let paragraphs = Paragraphs(client: .value(name), app: .value(app))
        let heading = texts.heading(for: client)
        consent = texts
        title = TextPiece.filled(heading, ["client": name, "app": app])
        // The operator can describe the client's purpose. Google's page always shows the linking notice.
        let own = client.purpose.map { "<p>\(HTML.value($0[language]))</p>" as HTML }
        let linking = isForGoogle ? paragraphs.paragraph(texts.purposeForGoogle) : nil
        start = """
            \(client.appearance.picture)\(paragraphs.pair)<h1>\(paragraphs.filled(heading))</h1>
            \(linking)\(own)

            """
        loginHint = paragraphs.paragraph(texts.loginHint, leaving: "hint", class: "notice")
        // Pressing Enter in a checkbox activates the form's first enabled button (HTML §4.10.21.2). This
        // button does nothing, because it would close a dialog and the page has none (§4.10.21.3).
        scopesStart = """
            <button hidden formmethod="dialog"></button>
            <h2>\(paragraphs.filled(texts.scopes))</h2>

            """
        optionalScopes = paragraphs.paragraph(texts.optionalScopes, class: "note")
        emailHidden = TextWithPlaces(texts.emailHidden, leaving: "email")
        emailUnknown = .text(texts.emailUnknown)
        emailNotShared = paragraphs.paragraph(texts.emailNotShared, class: "note")
        let connections = ConnectionsQuery(app: client.app.rawValue, language: language)
        let link = HTML.reference(
            ConnectionsTexts.of(language).link, to: "\(ConnectionsUseCase.path)?\(connections.text)")
        notes = """
            \(isForGoogle ? paragraphs.google(texts) : paragraphs.paragraph(texts.unlink, class: "note"))\
            <p class="note">\(link)</p>
            \(client.appearance.links(of: name, language))
            """
        returnsTo =
            isForGoogle ? nil : paragraphs.paragraph(texts.returnsTo, leaving: "target", class: "note")
        returnsToProgram =
            isForGoogle ? nil : paragraphs.paragraph(texts.returnsToProgram, leaving: "target", class: "note")
        // A browser that ignores the hidden button activates the next button, so the next button must not
        // grant consent.
        formEnd = """
            <div class="buttons">
            <button name="\(ConsentPage.decisionField)" value="cancel">\(texts.cancel)</button>
            <button class="main" name="\(ConsentPage.decisionField)" value="agree">\(texts.agreement(with: client))</button>
            </div>
            </form>

            """
    }
}

/// One client's texts in HTML.
private struct Paragraphs {
    let client: HTML
    let app: HTML

    /// The app and the client, joined by an arrow: "app ↔ client".
    var pair: HTML { "<p class=\"pair\">\(app) <span aria-hidden=\"true\">↔</span> \(client)</p>\n" }

    func filled(_ text: String, _ values: [String: HTML] = [:]) -> HTML {
        .filled(text, values.merging(["client": client, "app": app]) { own, _ in own })
    }

    func paragraph(_ text: String, _ values: [String: HTML] = [:], class name: String? = nil) -> HTML {
        "<p\(HTML.class(name))>\(filled(text, values))</p>\n"
    }

    func paragraph(_ text: String, leaving open: String, class name: String? = nil) -> TextWithPlaces {
        TextWithPlaces(text, ["client": client, "app": app], leaving: open)
            .within("<p\(HTML.class(name))>", "</p>\n")
    }

    /// Returns the texts that Google's review requires. All texts are in small print except the first text,
    /// which is about the authorization.
    func google(_ texts: AuthorizeTexts.Consent) -> HTML {
        HTML(
            texts.notesForGoogle.map { note in
                paragraph(note.template, note.markup, class: note.url == nil ? nil : "note")
            })
    }
}

/// Prepared texts for all clients' pages in all languages. They need a few kilobytes per client.
struct ConsentPages: Sendable {
    private let texts: [OAuthClientID: [PageLanguage: ConsentPageTexts]]

    /// - Parameter appName: Returns an app's name by its primary client ID.
    init(
        _ clients: [OAuthClient], languages: PageLanguages, appName: (ClientID) -> LocalizedText
    ) {
        var texts: [OAuthClientID: [PageLanguage: ConsentPageTexts]] = [:]
        for client in clients {
            for language in languages.all {
                texts[client.id, default: [:]][language] = ConsentPageTexts(
                    client: client, appName: appName(client.app), language: language)
            }
        }
        self.texts = texts
    }

    func page(_ prompt: ConsentPrompt, language: PageLanguage, cookie: String?) -> ConsentPage {
        ConsentPage(
            prompt: prompt, language: language, cookie: cookie, texts: texts[prompt.client.id]?[language])
    }
}

// Chooses the texts for a client, which the consent page and the App Flip prompt share.
extension AuthorizeTexts.Consent {
    /// Has the placeholders `{client}` and `{app}`.
    func heading(for client: OAuthClient) -> String {
        if client.googleLinking != nil { return titleForGoogle }
        return client.isFirstParty ? titleForFirstParty : title
    }

    /// Returns the label of the button that grants consent.
    func agreement(with client: OAuthClient) -> String {
        if client.googleLinking != nil { return agreeAndLink }
        return client.isFirstParty ? goOn : allow
    }

    /// The texts that Google's review requires below the scope list.
    var notesForGoogle: [ConsentNote] {
        [
            ConsentNote(template: authorizationForGoogle, place: "agree", text: agreeAndLink, url: nil),
            ConsentNote(
                template: googlePolicy, place: "policy", text: googlePolicyName,
                url: "https://policies.google.com/privacy"),
            ConsentNote(
                template: unlinkFromGoogle, place: "connections", text: googleConnectionsName,
                url: "https://myaccount.google.com/connections"),
        ]
    }
}

/// A sentence below the scope list, with one placeholder for a link or a quotation.
struct ConsentNote: Sendable {
    let template: String
    /// Name of the placeholder, without its braces.
    let place: String
    /// The text that replaces the placeholder.
    let text: String
    /// The link's URL; `nil` for a quotation.
    let url: String?

    var markup: [String: HTML] {
        [place: url.map { .reference(text, to: $0) } ?? .text(text)]
    }

    /// The sentence without markup.
    var plain: String { TextPiece.filled(template, [place: text]) }
}
