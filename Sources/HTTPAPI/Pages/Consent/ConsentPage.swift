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

    let prompt: ConsentPrompt
    let language: PageLanguage
    var cookie: String?

    var response: HTTPResponse {
        let title = isForGoogle ? texts.titleForGoogle : Markup.plain(texts.title, ["client": clientName])
        return BrowserPage(
            language: language, title: title, content: content(),
            formTargets: [prompt.target.formActionSource], cookie: cookie
        ).response
    }

    private var texts: AuthorizeTexts.Consent { AuthorizeTexts.of(language).consent }
    private var clientName: String { prompt.client.name[language] }
    private var client: Markup { .value(clientName) }
    private var isForGoogle: Bool { prompt.client.googleLinking != nil }

    private func content() -> String {
        """
        <h1>\(isForGoogle ? Markup.text(texts.titleForGoogle).html : filled(texts.title))</h1>
        \(purpose)
        \(PersonBlock(account: prompt.account, texts: texts).html)
        <p><a href="\(AuthorizeUseCase.path)?\(prompt.otherAccountQuery.htmlEscaped)">\(texts.useAnotherAccount.htmlEscaped)</a></p>
        \(prompt.loginHint.map { paragraph(texts.loginHint, ["hint": .value($0)]) } ?? "")
        <form method="post" action="\(AuthorizeUseCase.path)?\(prompt.query.htmlEscaped)">
        <input type="hidden" name="\(Self.tokenField)" value="\(prompt.formToken.htmlEscaped)">
        <h2>\(filled(texts.scopes))</h2>
        \(scopes)
        \(email)
        \(isForGoogle ? google : "")
        \(isForGoogle ? "" : paragraph(texts.unlink, class: "note"))
        <div class="buttons">
        <button class="main" name="\(Self.decisionField)" value="agree">\(texts.agree.htmlEscaped)</button>
        <button name="\(Self.decisionField)" value="cancel">\(texts.cancel.htmlEscaped)</button>
        </div>
        </form>
        \(isForGoogle ? "" : paragraph(texts.returnsTo, ["target": .value(prompt.target.destination)], class: "note"))
        """
    }

    /// What the operator says of the client, and always that Google is linked.
    private var purpose: String {
        let google = isForGoogle ? paragraph(texts.purposeForGoogle) : ""
        return google + (prompt.client.purpose.map { "<p>\(Markup.text($0[language]).html)</p>" } ?? "")
    }

    private var scopes: String {
        let items = prompt.scopes.map { scope in
            let text = Markup.text(scope.text[language]).html
            guard scope.isOptional else { return "<li>\(text)</li>" }
            let name = (Self.scopePrefix + scope.token.rawValue).htmlEscaped
            return
                "<li><label class=\"choice\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\" checked>"
                + "<span>\(text)</span></label></li>"
        }
        let note =
            prompt.scopes.contains(where: \.isOptional) ? paragraph(texts.optionalScopes, class: "note") : ""
        return "<ul class=\"scopes\">\(items.joined())</ul>\(note)"
    }

    private var email: String {
        guard prompt.sharesEmail else { return paragraph(texts.emailNotShared, class: "note") }
        guard let address = prompt.account.email else { return paragraph(texts.emailUnknown) }
        let isHidden = prompt.account.isPrivateEmail ?? false
        return paragraph(isHidden ? texts.emailHidden : texts.emailShared, ["email": .value(address)])
    }

    /// What Google's review wants to read.
    private var google: String {
        let policy = Markup.link(.text(texts.googlePolicyName), to: "https://policies.google.com/privacy")
        let connections = Markup.link(
            .text(texts.googleConnectionsName), to: "https://myaccount.google.com/connections")
        return paragraph(texts.authorizationForGoogle, ["agree": .text(texts.agree)])
            + paragraph(texts.googlePolicy, ["policy": policy], class: "note")
            + paragraph(texts.unlinkFromGoogle, ["connections": connections], class: "note")
    }

    private func paragraph(_ text: String, _ values: [String: Markup] = [:], class name: String? = nil)
        -> String
    {
        "<p\(name.map { " class=\"\($0)\"" } ?? "")>\(filled(text, values))</p>\n"
    }

    private func filled(_ text: String, _ values: [String: Markup] = [:]) -> String {
        Markup.filled(text, values.merging(["client": client]) { own, _ in own }).html
    }
}
