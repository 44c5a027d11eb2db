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

/// The page that asks a user for consent to a device: it shows the code, and from where the request came.
///
/// An attacker can send the address of this page with the code of a device of their own (RFC 8628 §5.4). Only
/// the user can see that it is not the own device.
struct DeviceConsentPage {
    let prompt: DevicePrompt
    let query: DeviceQuery
    let language: PageLanguage
    let cookie: String?

    var response: HTTPResponse {
        let texts = ConsentPageTexts(client: prompt.client, appName: prompt.appName, language: language)
        return BrowserPage(
            language: language, title: texts.title, content: content(texts), postsToItself: true,
            hasPictures: prompt.client.appearance.logo != nil, cookie: cookie
        ).response
    }

    private func content(_ texts: ConsentPageTexts) -> [UInt8] {
        var page = HTMLWriter(reservingCapacity: 6144)
        page.append(texts.start)
        writeOrigin(to: &page)
        UserBlock(
            account: prompt.account, signedInAs: texts.signedInAs, withoutName: texts.withoutName
        ).write(to: &page)
        page.append("<a href=\"")
        page.append(escaping: "\(DevicePageUseCase.path)?\(query.forOtherAccount.text)")
        page.append(texts.otherAccountEnd)
        page.append("<form method=\"post\" action=\"")
        page.append(escaping: "\(DevicePageUseCase.path)?\(query.text)")
        page.append("\">\n<input type=\"hidden\" name=\"\(ConsentPage.tokenField)\" value=\"")
        page.append(escaping: prompt.formToken)
        page.append(texts.scopesStart)
        ScopeList(scopes: prompt.scopes, account: prompt.account, language: language, texts: texts)
            .write(to: &page)
        if !prompt.scopes.contains(where: { $0.token == .email }) { page.append(texts.emailNotShared) }
        page.append(texts.notes)
        page.append(texts.formEnd)
        return page.bytes
    }

    private func writeOrigin(to page: inout HTMLWriter) {
        let texts = DeviceTexts.of(language)
        page.append("<p class=\"device-code\"><span>\(texts.compare.htmlEscaped)</span>")
        page.append("<b dir=\"ltr\">\(prompt.userCode.shown)</b></p>\n<div class=\"notice\">")
        page.append("<p>\(texts.origin.htmlEscaped)</p>\n<ul class=\"origin\">")
        let unknown = Markup.text(texts.unknown)
        for fact in [
            Markup.filled(
                texts.address, ["value": prompt.origin.address.map { .address($0) } ?? unknown]),
            Markup.filled(
                texts.program, ["value": prompt.origin.userAgent.map { .value($0) } ?? unknown]),
            DeviceTexts.started(minutesAgo: prompt.minutesAgo, in: language),
        ] {
            page.append("<li>\(fact.html)</li>")
        }
        page.append("</ul>\n<p>\(texts.warning.htmlEscaped)</p></div>\n")
    }
}

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
