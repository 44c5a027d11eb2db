import AuthorizationServer
import Encodings
import HTTPEngine
import NIOHTTP1
import OAuth

/// The page on which a user enters the code that a device shows.
struct DeviceCodePage {
    static let codeField: StaticString = "user_code"

    let query: DeviceQuery
    let fault: DevicePageOutcome.EntryFault?
    let language: PageLanguage

    var response: HTTPResponse {
        var page = BrowserPage(
            language: language, title: texts.title, content: Array(content.utf8), postsToItself: true)
        guard let fault else { return page.response }
        (page.status, page.code) = (fault.status, fault.code)
        var response = page.response
        if case .paused(let seconds) = fault { response.fields.append(("retry-after", String(seconds))) }
        return response
    }

    private var texts: DeviceTexts { .of(language) }

    /// The form asks by GET: the answer changes nothing, and has the same address as the link that a device
    /// shows.
    private var content: String {
        let notice = fault.map {
            "<p class=\"notice\" id=\"fault\" role=\"alert\">\(texts.text(of: $0).html)</p>\n"
        }
        let description = fault == nil ? "advice" : "fault advice"
        let locale = query.language.map {
            "<input type=\"hidden\" name=\"ui_locales\" value=\"\($0.rawValue)\">\n"
        }
        return """
            <h1>\(texts.title.htmlEscaped)</h1>
            <p id="advice">\(texts.enterAdvice.htmlEscaped)</p>
            \(notice ?? "")<form method="get" action="\(DevicePageUseCase.path)">
            \(locale ?? "")<input type="hidden" name="entered" value="1">
            <label class="field"><span>\(texts.code.htmlEscaped)</span>
            <input name="\(Self.codeField)" dir="ltr" required maxlength="16" placeholder="XXXX-XXXX" \
            autocomplete="off" autocapitalize="characters" spellcheck="false" aria-describedby="\(description)"></label>
            <button class="main">\(texts.goOn.htmlEscaped)</button>
            </form>
            <p class="note last">\(texts.warning.htmlEscaped)</p>

            """
    }
}

extension DevicePageOutcome.EntryFault {
    fileprivate var status: HTTPResponseStatus {
        switch self {
        case .malformed, .unknown, .over: .badRequest
        case .paused: .tooManyRequests
        }
    }

    /// Stable codes, for the log.
    fileprivate var code: String {
        switch self {
        case .malformed: "user_code_malformed"
        case .unknown: "user_code_unknown"
        case .over: "user_code_expired"
        case .paused: "user_code_paused"
        }
    }
}
