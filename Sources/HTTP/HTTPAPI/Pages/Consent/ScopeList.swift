import AppleAccounts
import AuthorizationServer

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
