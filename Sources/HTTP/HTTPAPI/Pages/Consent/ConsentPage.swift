import AppleAccounts
import AuthorizationServer
import HTTPEngine
import OAuth
import Pages

/// The page that asks a user to consent to a client's request.
///
/// Escapes and isolates all text from the request, because any site can link to the page with its own text.
struct ConsentPage {
    /// Names of the page's form fields.
    static let tokenField: StaticString = "csrf_token"
    static let decisionField: StaticString = "decision"
    /// Prefix of the optional scopes' field names.
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
            language: language, title: texts.title, content: content,
            formTargets: [prompt.target.formActionSource],
            hasPictures: prompt.client.appearance.logo != nil, cookie: cookie
        ).response
    }

    /// A notice for the client's developer, shown only in development and only in English.
    private static let withoutOpenID: HTML = """
        <p class="notice" lang="en" dir="ltr">Development: the scope has email or profile, but not openid. So there is \
        no ID token, and /oauth/userinfo refuses the access token. Ask for openid too, or set imply_openid for \
        this client.</p>

        """

    private var content: HTML {
        let returnsTo = prompt.target.isLoopback ? texts.returnsToProgram : texts.returnsTo
        return """
            \(texts.start)\
            \(UserBlock(prompt.account, texts, otherAccount: "\(AuthorizeUseCase.path)?\(prompt.otherAccountQuery)").html)\
            \(prompt.otherAccountHint.map { texts.loginHint.filled(with: $0) })
            <form method="post" action="\(AuthorizeUseCase.path)?\(prompt.query)">
            <input type="hidden" name="\(Self.tokenField)" value="\(prompt.formToken)">
            \(texts.scopesStart)\
            \(ScopeList(scopes: prompt.scopes, account: prompt.account, language: language, texts: texts).html)\
            \(prompt.explainsOpenID ? Self.withoutOpenID : nil)\(prompt.sharesEmail ? nil : texts.emailNotShared)\
            \(texts.notes)\(returnsTo?.filled(with: prompt.target.destination))\(texts.formEnd)
            """
    }
}

/// The list of requested scopes. Optional scopes have checkboxes.
struct ScopeList {
    let scopes: [DeclaredScope]
    let account: Account
    let language: PageLanguage
    let texts: ConsentPageTexts

    var html: HTML {
        let email = ShownUser(account).sharedEmail
        let items = scopes.map { scope -> HTML in
            let text = text(scope, email)
            guard scope.isOptional else { return "<li>\(text)</li>" }
            let name = ConsentPage.scopePrefix + scope.token.rawValue
            return """
                <li><label class="choice"><input type="checkbox" name="\(name)" value="1" checked>\
                <span>\(text)</span></label></li>
                """
        }
        let hint = scopes.contains(where: \.isOptional) ? texts.optionalScopes : nil
        return "<ul class=\"scopes\">\(HTML(items))</ul>\(hint)\n"
    }

    /// Returns a scope's list item. The item of the `email` scope also contains the address, because only
    /// this scope shares it.
    private func text(_ scope: DeclaredScope, _ email: ShownUser.SharedEmail) -> HTML {
        let text = HTML.text(scope.text[language])
        guard scope.token == .email else { return text }
        let shared: HTML =
            switch email {
            case .own(let address): .address(address)
            case .relay(let address): texts.emailHidden.filled(with: address)
            case .unknown: texts.emailUnknown
            }
        return "\(text)<small>\(shared)</small>"
    }
}

/// The signed-in user: a circle with an initial, and the name and the address if the service knows them.
struct UserBlock: PagePart {
    let html: HTML

    /// - Parameter link: A link for signing in with another account.
    private init(_ account: Account, _ texts: AuthorizeTexts.Consent, link: HTML?) {
        let user = ShownUser(account)
        let initial = user.title?.first.map { String($0).uppercased() } ?? "•"
        // For a user without a name, the title is the address.
        let title = user.title.map { HTML.address($0) } ?? .text(texts.withoutName)
        html = """
            <div class="user"><span class="face" aria-hidden="true">\(initial)</span><span class="who">\
            <span>\(texts.signedInAs)</span><b>\(title)</b>\
            \(user.subtitle.map { "<span>\(HTML.address($0))</span>" as HTML })</span>\(link)</div>

            """
    }

    init(_ account: Account, _ language: PageLanguage) {
        self.init(account, AuthorizeTexts.of(language).consent, link: nil)
    }

    init(_ account: Account, _ texts: ConsentPageTexts, otherAccount: String) {
        self.init(
            account, texts.consent,
            link: "<a href=\"\(otherAccount)\">\(texts.consent.useAnotherAccount)</a>")
    }
}

/// Facts about a user that the consent page and the App Flip prompt show.
struct ShownUser {
    let name: String?
    let email: String?
    /// The address that a client with the `email` scope receives.
    let sharedEmail: SharedEmail

    enum SharedEmail {
        case own(String)
        /// One of Apple's private relay addresses.
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

    /// The second line: the address, if the first line is the name.
    var subtitle: String? { name == nil ? nil : email }
}

extension ClientAppearance {
    /// The client's picture. Its alternative text is empty, because it would only repeat the name.
    var picture: HTML? {
        logo.map { "<img class=\"logo\" alt=\"\" width=\"48\" height=\"48\" src=\"\($0.dataURL)\">\n" }
    }

    /// Returns a paragraph with the client's links; `nil` if the client has none.
    func links(of name: String, _ language: PageLanguage) -> HTML? {
        let texts = ConnectionsTexts.of(language)
        let links = [(texts.policy, policyURI), (texts.terms, termsURI)].compactMap { text, address in
            address.map { HTML.reference(text, to: $0) }
        }
        guard !links.isEmpty else { return nil }
        return "<p class=\"note\">\(HTML.value(name)): \(links.joined(separator: " · "))</p>\n"
    }
}
