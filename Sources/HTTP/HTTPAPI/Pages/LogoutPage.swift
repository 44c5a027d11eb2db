import AuthorizationServer
import HTTPEngine
import OAuth
import Pages

/// The page that asks a user whether to sign out of this browser session.
struct LogoutPage {
    let prompt: LogoutPrompt
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: texts.title, content: content,
            formTargets: [prompt.target?.formActionSource].compactMap(\.self), postsToItself: true,
            hasPictures: prompt.client?.appearance.logo != nil
        ).response
    }

    private var texts: LogoutTexts { .of(language) }

    private var content: HTML {
        let app = HTML.value(prompt.appName[language])
        let reason =
            prompt.client.map {
                HTML.filled(texts.reason, ["client": .value($0.name[language]), "app": app])
            }
            ?? .filled(texts.question, ["app": app])
        return """
            \(prompt.client?.appearance.picture)<h1>\(texts.title)</h1>
            <p>\(reason)</p>
            \(UserBlock(prompt.account, language).html)\
            <form method="post" action="\(LogoutUseCase.path)?\(prompt.query)">
            <input type="hidden" name="\(ConsentPage.tokenField)" value="\(prompt.formToken)">
            <p class="note first">\(texts.consequence)</p>
            <div class="buttons">
            <button name="\(ConsentPage.decisionField)" value="stay">\(texts.stay)</button>
            <button class="main" name="\(ConsentPage.decisionField)" value="sign_out">\(texts.signOut)</button>
            </div>
            </form>
            """
    }
}

/// The final page of the sign-out. It shows whether the browser is signed out.
struct LogoutResultPage {
    let text: LogoutTexts.Result
    let language: PageLanguage
    /// The reason why the browser does not return to the client.
    var obstacle: LogoutOutcome.Obstacle?
    /// True in development, where the page shows the obstacle to the developer.
    var isExplained = false
    var cookie: String?

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: text.title, content: content,
            code: obstacle?.rawValue, cookie: cookie
        ).response
    }

    private var content: HTML {
        """
        <h1>\(text.title)</h1>
        <p>\(text.advice)</p>
        \(isExplained ? obstacle.map { Self.notice($0) } : nil)
        """
    }

    /// Returns a notice for the client's developer, shown only in development and only in English.
    private static func notice(_ obstacle: LogoutOutcome.Obstacle) -> HTML {
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
