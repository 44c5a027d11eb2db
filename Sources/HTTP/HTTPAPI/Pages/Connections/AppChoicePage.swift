import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPEngine
import OAuth

/// The page that asks a user without a session for which app to sign in, where several apps have clients.
struct AppChoicePage {
    let apps: [(app: ClientID, name: LocalizedText)]
    let query: ConnectionsQuery
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: ConnectionsTexts.of(language).chooseApp, content: Array(content.utf8)
        ).response
    }

    private var content: String {
        let texts = ConnectionsTexts.of(language)
        let links = apps.map { app, name in
            let address = "\(ConnectionsUseCase.path)?\(query.of(app: app.rawValue).text)"
            return
                "<a class=\"button main\" href=\"\(address.htmlEscaped)\">\(Markup.value(name[language]).html)</a>"
        }
        return """
            <h1>\(texts.chooseApp.htmlEscaped)</h1>
            <p>\(texts.chooseAppAdvice.htmlEscaped)</p>
            \(links.joined(separator: "\n"))
            """
    }
}
