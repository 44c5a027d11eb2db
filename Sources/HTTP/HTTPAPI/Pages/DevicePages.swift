import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import Pages

/// The page where a user enters the code that a device shows.
struct DeviceCodePage {
    static let codeField: StaticString = "user_code"

    let query: DeviceQuery
    let fault: DevicePageOutcome.EntryFault?
    let language: PageLanguage

    var response: HTTPResponse {
        var page = BrowserPage(
            language: language, title: texts.title, content: content, postsToItself: true)
        guard let fault else { return page.response }
        (page.status, page.code) = (fault.status, fault.code)
        var response = page.response
        if case .paused(let seconds) = fault { response.fields.append(("retry-after", String(seconds))) }
        return response
    }

    private var texts: DeviceTexts { .of(language) }

    /// The form uses GET because the request changes nothing. The resulting URL equals the link that a device
    /// shows.
    private var content: HTML {
        let notice = fault.map {
            "<p class=\"notice\" id=\"fault\" role=\"alert\">\(texts.text(of: $0))</p>\n" as HTML
        }
        let locale = query.language.map {
            "<input type=\"hidden\" name=\"ui_locales\" value=\"\($0.rawValue)\">\n" as HTML
        }
        return """
            <h1>\(texts.title)</h1>
            <p id="advice">\(texts.enterAdvice)</p>
            \(notice)<form method="get" action="\(DevicePageUseCase.path)">
            \(locale)<input type="hidden" name="entered" value="1">
            <label class="field"><span>\(texts.code)</span>
            <input name="\(Self.codeField)" dir="ltr" required maxlength="16" placeholder="XXXX-XXXX" \
            autocomplete="off" autocapitalize="characters" spellcheck="false" \
            aria-describedby="\(fault == nil ? "advice" : "fault advice")"></label>
            <button class="main">\(texts.goOn)</button>
            </form>
            <p class="note last">\(texts.warning)</p>
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

    /// A stable code for the log.
    fileprivate var code: String {
        switch self {
        case .malformed: "user_code_malformed"
        case .unknown: "user_code_unknown"
        case .over: "user_code_expired"
        case .paused: "user_code_paused"
        }
    }
}

/// The page between the code form and the sign-in. It continues automatically, or when the user follows its
/// link.
///
/// The content security policy limits forms and their redirects to this service, so the form cannot redirect
/// to Apple directly.
struct DeviceContinuePage {
    let code: UserCode
    /// The URL of the next page, which belongs to this service.
    let address: String
    let language: PageLanguage

    var response: HTTPResponse {
        let texts = DeviceTexts.of(language)
        let content: HTML = """
            <h1>\(texts.title)</h1>
            <p class="device-code"><span>\(texts.compare)</span><b dir="ltr">\(code.shown)</b></p>
            <a class="button main" href="\(address)">\(texts.goOn)</a>
            """
        var response = BrowserPage(language: language, title: texts.title, content: content).response
        response.fields.append(("refresh", "0; url=\(address)"))
        return response
    }
}

/// The page that asks a user for consent to a device's request. It shows the code and the request's origin.
///
/// An attacker can start a request on their own device and send the user a link to this page with the
/// device's code (RFC 8628 §5.4). Only the user can notice that the code belongs to another device.
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

    private func content(_ texts: ConsentPageTexts) -> HTML {
        let emailNotShared = prompt.scopes.contains { $0.token == .email } ? nil : texts.emailNotShared
        return """
            \(texts.start)\(origin)\
            \(UserBlock(prompt.account, texts, otherAccount: "\(DevicePageUseCase.path)?\(query.forOtherAccount.text)").html)\
            <form method="post" action="\(DevicePageUseCase.path)?\(query.text)">
            <input type="hidden" name="\(ConsentPage.tokenField)" value="\(prompt.formToken)">
            \(texts.scopesStart)\
            \(ScopeList(scopes: prompt.scopes, account: prompt.account, language: language, texts: texts).html)\
            \(emailNotShared)\(texts.notes)\(texts.formEnd)
            """
    }

    private var origin: HTML {
        let texts = DeviceTexts.of(language)
        let unknown = HTML.text(texts.unknown)
        let (address, program) = (prompt.origin.address, prompt.origin.userAgent)
        return """
            <p class="device-code"><span>\(texts.compare)</span><b dir="ltr">\(prompt.userCode.shown)</b></p>
            <div class="notice"><p>\(texts.origin)</p>
            <ul class="origin">\
            <li>\(HTML.filled(texts.address, ["value": address.map { .address($0) } ?? unknown]))</li>\
            <li>\(HTML.filled(texts.program, ["value": program.map { .value($0) } ?? unknown]))</li>\
            <li>\(DeviceTexts.started(minutesAgo: prompt.minutesAgo, in: language))</li></ul>
            <p>\(texts.warning)</p></div>

            """
    }
}

/// The page shown after the user's decision about a device.
struct DeviceEndPage {
    let client: OAuthClient
    let isAgreed: Bool
    let language: PageLanguage

    var response: HTTPResponse {
        let texts = DeviceTexts.of(language)
        let title = isAgreed ? texts.agreedTitle : texts.refusedTitle
        let text = HTML.filled(
            isAgreed ? texts.agreed : texts.refused, ["client": .value(client.name[language])])
        return BrowserPage(
            language: language, title: title, content: "<h1>\(title)</h1>\n<p role=\"status\">\(text)</p>"
        ).response
    }
}
