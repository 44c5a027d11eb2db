import AuthorizationServer
import HTTPEngine

/// The page after the user's decision about a device.
struct DeviceEndPage {
    let client: OAuthClient
    let isAgreed: Bool
    let language: PageLanguage

    var response: HTTPResponse {
        let texts = DeviceTexts.of(language)
        let title = isAgreed ? texts.agreedTitle : texts.refusedTitle
        let text = Markup.filled(
            isAgreed ? texts.agreed : texts.refused, ["client": .value(client.name[language])])
        let content = "<h1>\(Markup.text(title).html)</h1>\n<p role=\"status\">\(text.html)</p>\n"
        return BrowserPage(language: language, title: title, content: Array(content.utf8)).response
    }
}
