import AuthorizationServer
import Encodings
import HTTPEngine
import OAuth

/// The page that asks a user whether to sign out in this browser.
struct LogoutPage {
    let prompt: LogoutPrompt
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: texts.title, content: content(),
            formTargets: [prompt.target?.formActionSource].compactMap(\.self), postsToItself: true,
            hasPictures: prompt.client?.appearance.logo != nil
        ).response
    }

    private var texts: LogoutTexts { .of(language) }

    private func content() -> [UInt8] {
        let consent = AuthorizeTexts.of(language).consent
        var page = HTMLWriter(reservingCapacity: 2048 + 3 * prompt.query.utf8.count)
        page.append("\(prompt.client?.appearance.logoMarkup ?? "")<h1>\(texts.title.htmlEscaped)</h1>\n")
        let app = Markup.value(prompt.appName[language])
        let reason =
            prompt.client.map {
                Markup.filled(texts.reason, ["client": .value($0.name[language]), "app": app])
            } ?? Markup.filled(texts.question, ["app": app])
        page.append("<p>\(reason.html)</p>\n")
        UserBlock(
            account: prompt.account, signedInAs: consent.signedInAs.htmlEscaped,
            withoutName: consent.withoutName.htmlEscaped
        ).write(to: &page)
        page.append("</div>\n<form method=\"post\" action=\"\(LogoutUseCase.path)?")
        page.append(escaping: prompt.query)
        page.append("\">\n<input type=\"hidden\" name=\"\(ConsentPage.tokenField)\" value=\"")
        page.append(escaping: prompt.formToken)
        page.append("\">\n<p class=\"note first\">\(texts.consequence.htmlEscaped)</p>\n")
        page.append(
            """
            <div class="buttons">
            <button name="\(ConsentPage.decisionField)" value="stay">\(texts.stay.htmlEscaped)</button>
            <button class="main" name="\(ConsentPage.decisionField)" value="sign_out">\(texts.signOut.htmlEscaped)</button>
            </div>
            </form>

            """)
        return page.bytes
    }
}

/// The page at the end: the user is signed out, or stays signed in.
struct LogoutResultPage {
    let text: LogoutTexts.Result
    let language: PageLanguage
    /// The reason for which the browser does not return to the client.
    var obstacle: LogoutOutcome.Obstacle?
    /// True in development, where the page tells the developer the obstacle.
    var isExplained = false
    var cookie: String?

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: text.title, content: Array(content.utf8),
            code: obstacle?.rawValue, cookie: cookie
        ).response
    }

    private var content: String {
        """
        <h1>\(text.title.htmlEscaped)</h1>
        <p>\(text.advice.htmlEscaped)</p>
        \(isExplained ? obstacle.map { Self.notice($0) } ?? "" : "")
        """
    }

    /// For the developer of a client, in development only and so in English.
    private static func notice(_ obstacle: LogoutOutcome.Obstacle) -> String {
        let text =
            switch obstacle {
            case .clientMissing:
                "post_logout_redirect_uri needs client_id, or an id_token_hint of this service."
            case .clientUnknown:
                "client_id is unknown here, or id_token_hint was issued to another client."
            case .redirectURIMismatch:
                "post_logout_redirect_uri is not byte for byte one of post_logout_redirect_uris of this client."
            }
        return """
            <p class="notice" lang="en" dir="ltr">Development: the browser does not return to the client. \(text)</p>
            """
    }
}
