import AuthorizationServer
import Encodings
import HTTPEngine

/// The page between the form with the code and the sign-in. It leads on by itself, and by its link.
///
/// A redirect to Apple would still belong to the form, which may lead to this service only.
struct DeviceContinuePage {
    let code: UserCode
    /// An address of this service.
    let address: String
    let language: PageLanguage

    var response: HTTPResponse {
        let texts = DeviceTexts.of(language)
        let content = """
            <h1>\(texts.title.htmlEscaped)</h1>
            <p class="device-code"><span>\(texts.compare.htmlEscaped)</span><b dir="ltr">\(code.shown)</b></p>
            <a class="button main" href="\(address.htmlEscaped)">\(texts.goOn.htmlEscaped)</a>

            """
        var response = BrowserPage(
            language: language, title: texts.title, content: Array(content.utf8)
        ).response
        response.fields.append(("refresh", "0; url=\(address)"))
        return response
    }
}
