import AuthorizationServer
import Encodings
import HTTPEngine
import OAuth

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
