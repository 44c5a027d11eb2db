import AppleAccounts
import AuthorizationServer
import HTTPEngine
import OAuth

/// The page that asks a user for consent to a client's request.
///
/// Every word of the request that it shows is escaped and isolated, because anyone can make a link to it.
struct ConsentPage {
    /// The names of the fields of its form.
    static let tokenField: StaticString = "csrf_token"
    static let decisionField: StaticString = "decision"
    /// Prefix of the field name of a scope that can be refused.
    static let scopePrefix = "scope:"

    private let prompt: ConsentPrompt
    private let language: PageLanguage
    private let cookie: String?
    private let texts: ConsentPageTexts

    init(
        prompt: ConsentPrompt, language: PageLanguage, cookie: String? = nil, texts: ConsentPageTexts? = nil
    ) {
        (self.prompt, self.language, self.cookie) = (prompt, language, cookie)
        self.texts =
            texts
            ?? ConsentPageTexts(
                client: prompt.client, appName: prompt.appName, language: language)
    }

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: texts.title, content: content(),
            formTargets: [prompt.target.formActionSource],
            hasPictures: prompt.client.appearance.logo != nil, cookie: cookie
        ).response
    }

    private static let otherAccount = "<a href=\"\(AuthorizeUseCase.path)?"
    private static let form = "\n<form method=\"post\" action=\"\(AuthorizeUseCase.path)?"
    private static let token = "\">\n<input type=\"hidden\" name=\"\(tokenField)\" value=\""

    /// For the developer of a client, in development only and so in English.
    private static let withoutOpenID = """
        <p class="notice" lang="en" dir="ltr">Development: the scope has email or profile, but not openid. So there is \
        no ID token, and /oauth/userinfo refuses the access token. Ask for openid too, or set imply_openid for \
        this client.</p>

        """

    private func content() -> [UInt8] {
        var page = HTMLWriter(reservingCapacity: 4096 + 3 * prompt.query.utf8.count)
        page.append(texts.start)
        UserBlock(
            account: prompt.account, signedInAs: texts.signedInAs, withoutName: texts.withoutName
        ).write(to: &page)
        page.append(Self.otherAccount)
        page.append(escaping: prompt.otherAccountQuery)
        page.append(texts.otherAccountEnd)
        if let hint = prompt.otherAccountHint { page.append(texts.loginHint, address: hint) }
        page.append(Self.form)
        page.append(escaping: prompt.query)
        page.append(Self.token)
        page.append(escaping: prompt.formToken)
        page.append(texts.scopesStart)
        ScopeList(scopes: prompt.scopes, account: prompt.account, language: language, texts: texts)
            .write(to: &page)
        if prompt.explainsOpenID { page.append(Self.withoutOpenID) }
        if !prompt.sharesEmail { page.append(texts.emailNotShared) }
        page.append(texts.notes)
        if let returnsTo = prompt.target.isLoopback ? texts.returnsToProgram : texts.returnsTo {
            page.append(returnsTo, address: prompt.target.destination)
        }
        page.append(texts.formEnd)
        return page.bytes
    }
}
