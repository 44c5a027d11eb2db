import AppleAccounts
import AuthorizationServer
import Encodings
import OAuth

/// What the consent page of a client says in one language, for every person and request: everything that does
/// not depend on one.
final class ConsentPageParts: Sendable {
    let title: String
    /// Before the block about the person.
    let start: String
    let signedInAs: String
    let withoutName: String
    /// Behind the query of the link to another account.
    let otherAccountEnd: String
    let loginHint: TextWithPlaces
    /// Behind the token of the form. The items of the list follow.
    let scopesStart: String
    let optionalScopes: String
    let emailShared: TextWithPlaces
    let emailHidden: TextWithPlaces
    let emailUnknown: String
    let emailNotShared: String
    /// Behind the paragraph about the e-mail address.
    let formEnd: String
    /// Google's page says it without an address.
    let returnsTo: TextWithPlaces?

    init(client: OAuthClient, language: PageLanguage) {
        let texts = AuthorizeTexts.of(language).consent
        let isForGoogle = client.googleLinking != nil
        let name = client.name[language]
        let paragraphs = Paragraphs(client: .value(name))
        title = isForGoogle ? texts.titleForGoogle : Markup.plain(texts.title, ["client": name])
        let heading =
            isForGoogle ? Markup.text(texts.titleForGoogle).html : paragraphs.filled(texts.title)
        // What the operator says of the client, and always that Google is linked.
        let purpose =
            (isForGoogle ? paragraphs.paragraph(texts.purposeForGoogle) : "")
            + (client.purpose.map { "<p>\($0[language].htmlEscaped)</p>" } ?? "")
        start = "<h1>\(heading)</h1>\n\(purpose)\n"
        signedInAs = texts.signedInAs.htmlEscaped
        withoutName = texts.withoutName.htmlEscaped
        otherAccountEnd = "\">\(texts.useAnotherAccount.htmlEscaped)</a></p>\n"
        loginHint = paragraphs.paragraph(texts.loginHint, leaving: "hint")
        scopesStart = "\">\n<h2>\(paragraphs.filled(texts.scopes))</h2>\n<ul class=\"scopes\">"
        optionalScopes = paragraphs.paragraph(texts.optionalScopes, class: "note")
        emailShared = paragraphs.paragraph(texts.emailShared, leaving: "email")
        emailHidden = paragraphs.paragraph(texts.emailHidden, leaving: "email")
        emailUnknown = paragraphs.paragraph(texts.emailUnknown)
        emailNotShared = paragraphs.paragraph(texts.emailNotShared, class: "note")
        formEnd = """

            \(isForGoogle ? paragraphs.google(texts) : "")
            \(isForGoogle ? "" : paragraphs.paragraph(texts.unlink, class: "note"))
            <div class="buttons">
            <button class="main" name="\(ConsentPage.decisionField)" value="agree">\(texts.agree.htmlEscaped)</button>
            <button name="\(ConsentPage.decisionField)" value="cancel">\(texts.cancel.htmlEscaped)</button>
            </div>
            </form>

            """
        returnsTo =
            isForGoogle ? nil : paragraphs.paragraph(texts.returnsTo, leaving: "target", class: "note")
    }
}

/// The texts of one client as HTML.
private struct Paragraphs {
    let client: Markup

    func filled(_ text: String, _ values: [String: Markup] = [:]) -> String {
        Markup.filled(text, values.merging(["client": client]) { own, _ in own }).html
    }

    func paragraph(_ text: String, _ values: [String: Markup] = [:], class name: String? = nil) -> String {
        "\(start(name))\(filled(text, values))</p>\n"
    }

    func paragraph(_ text: String, leaving open: String, class name: String? = nil) -> TextWithPlaces {
        Markup.filled(text, ["client": client], leaving: open, in: (start(name), "</p>\n"))
    }

    /// What Google's review wants to read.
    func google(_ texts: AuthorizeTexts.Consent) -> String {
        let policy = Markup.link(.text(texts.googlePolicyName), to: "https://policies.google.com/privacy")
        let connections = Markup.link(
            .text(texts.googleConnectionsName), to: "https://myaccount.google.com/connections")
        return paragraph(texts.authorizationForGoogle, ["agree": .text(texts.agree)])
            + paragraph(texts.googlePolicy, ["policy": policy], class: "note")
            + paragraph(texts.unlinkFromGoogle, ["connections": connections], class: "note")
    }

    private func start(_ name: String?) -> String { "<p\(name.map { " class=\"\($0)\"" } ?? "")>" }
}

/// The parts of the pages of all clients in all languages, made once: some kilobytes for each client.
struct ConsentPages: Sendable {
    private let parts: [OAuthClientID: [PageLanguage: ConsentPageParts]]

    init(_ clients: [OAuthClient]) {
        var parts: [OAuthClientID: [PageLanguage: ConsentPageParts]] = [:]
        for client in clients {
            for language in PageLanguage.allCases {
                parts[client.id, default: [:]][language] = ConsentPageParts(
                    client: client, language: language)
            }
        }
        self.parts = parts
    }

    func page(_ prompt: ConsentPrompt, language: PageLanguage, cookie: String?) -> ConsentPage {
        ConsentPage(
            prompt: prompt, language: language, cookie: cookie, parts: parts[prompt.client.id]?[language])
    }
}
