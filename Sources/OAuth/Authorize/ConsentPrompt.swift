public import AppleAccounts
public import AuthorizationServer

/// Everything that the consent page shows, and what its form carries.
public struct ConsentPrompt: Sendable {
    public let client: OAuthClient
    public let target: RedirectTarget
    /// What the client asks for, in its order.
    public let scopes: [DeclaredScope]
    public let account: Account
    /// The account that the client suggests, as it was in the request.
    public let loginHint: String?
    public let formToken: String
    /// Of the request, as it came. The form is posted to it.
    public let query: String
    public let languages: RequestedLanguages

    init(
        _ request: AuthorizationRequest, query: String, account: Account, scopes: [DeclaredScope],
        formToken: String
    ) {
        client = request.client
        target = request.target
        self.scopes = scopes
        self.account = account
        loginHint = request.loginHint
        self.formToken = formToken
        self.query = query
        languages = request.languages
    }

    public var sharesEmail: Bool { scopes.contains { $0.token == .email } }

    /// The same request, which first asks at Apple for another account.
    public var otherAccountQuery: String {
        var prompts = Set(["select_account"])
        let others = query.utf8.split(separator: UInt8(ascii: "&")).map { Substring($0) }.filter { pair in
            guard pair.utf8.starts(with: "prompt=".utf8) else { return true }
            // "login" and "consent" stay; words are separated by a space in either spelling.
            let words = pair.dropFirst("prompt=".count).replacing("%20", with: "+").split(separator: "+")
            prompts.formUnion(words.map { String($0) })
            return false
        }
        return (others + ["prompt=\(prompts.sorted().joined(separator: "%20"))"]).joined(separator: "&")
    }
}
