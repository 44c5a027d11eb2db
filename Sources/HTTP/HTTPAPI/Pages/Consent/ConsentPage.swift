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

/// The list of the requested scopes, with checkboxes for those that the user can refuse.
struct ScopeList {
    let scopes: [DeclaredScope]
    let account: Account
    let language: PageLanguage
    let texts: ConsentPageTexts

    func write(to page: inout HTMLWriter) {
        let user = ShownUser(account)
        for scope in scopes {
            guard scope.isOptional else {
                page.append("<li>")
                write(scope, user, to: &page)
                page.append("</li>")
                continue
            }
            page.append("<li><label class=\"choice\"><input type=\"checkbox\" name=\"")
            page.append(ConsentPage.scopePrefix)
            page.append(escaping: scope.token.rawValue)
            page.append("\" value=\"1\" checked><span>")
            write(scope, user, to: &page)
            page.append("</span></label></li>")
        }
        page.append("</ul>")
        if scopes.contains(where: \.isOptional) { page.append(texts.optionalScopes) }
        page.append("\n")
    }

    /// The address is a part of its scope's item, because it is shared only with this scope.
    private func write(_ scope: DeclaredScope, _ user: ShownUser, to page: inout HTMLWriter) {
        page.append(escaping: scope.text[language])
        guard scope.token == .email else { return }
        page.append("<small>")
        switch user.sharedEmail {
        case .own(let address): page.append(address: address)
        case .relay(let address): page.append(texts.emailHidden, address: address)
        case .unknown: page.append(texts.emailUnknown)
        }
        page.append("</small>")
    }
}

/// The signed-in user: a circle with an initial, the name and the address, as far as they are known.
struct UserBlock {
    let account: Account
    /// Texts as HTML.
    let signedInAs: String
    let withoutName: String

    private var user: ShownUser { ShownUser(account) }

    func write(to page: inout HTMLWriter) {
        page.append("<div class=\"user\"><span class=\"face\" aria-hidden=\"true\">")
        page.append(escaping: initial)
        page.append("</span><span class=\"who\"><span>")
        page.append(signedInAs)
        page.append("</span><b>")
        if let title = user.title {
            // A user without a name has the address as the title.
            page.append(address: title)
        } else {
            page.append(withoutName)
        }
        page.append("</b>")
        if let email = user.subtitle {
            page.append("<span>")
            page.append(address: email)
            page.append("</span>")
        }
        // The end of the block follows, on the consent page after a link to another account.
        page.append("</span>")
    }

    private var initial: String {
        user.title?.first.map { String($0).uppercased() } ?? "•"
    }
}

/// Facts about a user that the consent page and the prompt of App Flip show.
struct ShownUser {
    let name: String?
    let email: String?
    /// The address that a client with the scope `email` gets.
    let sharedEmail: SharedEmail

    enum SharedEmail {
        case own(String)
        /// A relay address of Apple.
        case relay(String)
        case unknown
    }

    init(_ account: Account) {
        let parts = [account.profile.firstName, account.profile.lastName].compactMap { $0 }
        name = parts.isEmpty ? nil : parts.joined(separator: " ")
        email = account.email
        sharedEmail =
            account.email.map { account.isPrivateEmail ?? false ? .relay($0) : .own($0) } ?? .unknown
    }

    /// The first line: the name, or the address of a user without a name.
    var title: String? { name ?? email }

    /// The second line: the address of a user who has a name.
    var subtitle: String? { name == nil ? nil : email }
}

extension ClientAppearance {
    /// The picture; empty without one. Its text would repeat the name that follows.
    var logoMarkup: String {
        logo.map { "<img class=\"logo\" alt=\"\" width=\"48\" height=\"48\" src=\"\($0.dataURL)\">\n" } ?? ""
    }

    /// Returns a paragraph with the links; empty without any.
    func linksMarkup(of name: String, _ language: PageLanguage) -> String {
        let texts = ConnectionsTexts.of(language)
        let links = [(texts.policy, policyURI), (texts.terms, termsURI)].compactMap { text, address in
            address.map { Markup.link(.text(text), to: $0).html }
        }
        guard !links.isEmpty else { return "" }
        return "<p class=\"note\">\(Markup.value(name).html): \(links.joined(separator: " · "))</p>\n"
    }
}
