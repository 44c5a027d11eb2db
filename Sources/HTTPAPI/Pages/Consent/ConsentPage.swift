import AppleAccounts
import AuthorizationServer
import OAuth

/// The page that asks a person whether a client may have what it asks for.
///
/// Every word of the request that it shows is escaped and isolated, because anyone can make a link to it.
struct ConsentPage {
    /// The names of the fields of its form.
    static let tokenField: StaticString = "csrf_token"
    static let decisionField: StaticString = "decision"
    /// Before the name of a scope that can be refused.
    static let scopePrefix = "scope:"

    private let prompt: ConsentPrompt
    private let language: PageLanguage
    private let cookie: String?
    private let parts: ConsentPageParts

    init(
        prompt: ConsentPrompt, language: PageLanguage, cookie: String? = nil, parts: ConsentPageParts? = nil
    ) {
        (self.prompt, self.language, self.cookie) = (prompt, language, cookie)
        self.parts = parts ?? ConsentPageParts(client: prompt.client, language: language)
    }

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: parts.title, content: content(),
            formTargets: [prompt.target.formActionSource], cookie: cookie
        ).response
    }

    private static let otherAccount = "\n<p><a href=\"\(AuthorizeUseCase.path)?"
    private static let form = "\n<form method=\"post\" action=\"\(AuthorizeUseCase.path)?"
    private static let token = "\">\n<input type=\"hidden\" name=\"\(tokenField)\" value=\""

    private func content() -> [UInt8] {
        var page = HTMLWriter(reservingCapacity: 4096 + 3 * prompt.query.utf8.count)
        page.append(parts.start)
        PersonBlock(account: prompt.account, parts: parts).write(to: &page)
        page.append(Self.otherAccount)
        page.append(escaping: prompt.otherAccountQuery)
        page.append(parts.otherAccountEnd)
        if let hint = prompt.loginHint { page.append(parts.loginHint, value: hint) }
        page.append(Self.form)
        page.append(escaping: prompt.query)
        page.append(Self.token)
        page.append(escaping: prompt.formToken)
        page.append(parts.scopesStart)
        writeScopes(to: &page)
        writeEmail(to: &page)
        page.append(parts.formEnd)
        if let returnsTo = parts.returnsTo { page.append(returnsTo, value: prompt.target.destination) }
        return page.bytes
    }

    private func writeScopes(to page: inout HTMLWriter) {
        for scope in prompt.scopes {
            guard scope.isOptional else {
                page.append("<li>")
                page.append(escaping: scope.text[language])
                page.append("</li>")
                continue
            }
            page.append("<li><label class=\"choice\"><input type=\"checkbox\" name=\"")
            page.append(Self.scopePrefix)
            page.append(escaping: scope.token.rawValue)
            page.append("\" value=\"1\" checked><span>")
            page.append(escaping: scope.text[language])
            page.append("</span></label></li>")
        }
        page.append("</ul>")
        if prompt.scopes.contains(where: \.isOptional) { page.append(parts.optionalScopes) }
        page.append("\n")
    }

    private func writeEmail(to page: inout HTMLWriter) {
        guard prompt.sharesEmail else { return page.append(parts.emailNotShared) }
        guard let address = prompt.account.email else { return page.append(parts.emailUnknown) }
        let isHidden = prompt.account.isPrivateEmail ?? false
        page.append(isHidden ? parts.emailHidden : parts.emailShared, value: address)
    }
}
