public import AppleAccounts
public import AuthorizationServer
import Encodings
public import SignIn

/// The next step of a request to `/oauth/authorize`.
public struct AuthorizeOutcome: Sendable {
    public let action: Action
    public let session: SessionChange

    public enum Action: Sendable {
        /// A page that names the fault of the request.
        case page(AuthorizationPageError)
        /// A page with the reason why the posted form is refused.
        case refusal(FormRefusal)
        /// A page about a disabled account, with a link to the client.
        case disabled(DisabledAccountNotice)
        /// The page that asks for consent.
        case ask(ConsentPrompt)
        /// Redirects to the client with a code, by 303.
        case code(String)
        /// Redirects to the client with an error, by 303.
        case error(OAuthError.Code, String)
        /// Redirects back to this endpoint after a sign-in, by 303.
        case resume(String)
        /// Redirects to Apple's page, by 303.
        case signIn(WebAuthorizationRequest)
    }

    /// A change of the session's cookie.
    public enum SessionChange: Sendable, Hashable {
        case keep
        /// The cookie's value, and its lifetime in seconds.
        case set(String, seconds: Int64)
        case end
    }

    init(_ action: Action, session: SessionChange = .keep) {
        (self.action, self.session) = (action, session)
    }

    /// Redirects to the client with an error.
    init(_ error: OAuthError, by response: AuthorizationResponse, session: SessionChange = .keep) {
        self.init(.error(error.code, response.location(error: error)), session: session)
    }
}

/// Reasons why a posted consent form is refused. Nothing was written.
public struct FormRefusal: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// The form was not shown to this session for this request, or it was changed.
        case formRefused = "form_refused"
        /// The session has ended, or the sign-in was revoked or is too old.
        case loginRequired = "login_required"
    }

    public let code: Code
    /// The query of the request, so that the user can start over.
    public let query: String
    public let languages: RequestedLanguages
}

/// Contents of the consent page and of its form.
public struct ConsentPrompt: Sendable {
    public let client: OAuthClient
    /// The name for users of the app whose account is requested.
    public let appName: LocalizedText
    public let target: RedirectTarget
    /// Scopes that the client requests, in its order.
    public let scopes: [DeclaredScope]
    public let account: Account
    /// The account that the client suggests, as written in the request.
    public let loginHint: String?
    public let formToken: String
    /// The query of the request, unchanged. The form is posted to it.
    public let query: String
    public let languages: RequestedLanguages
    /// True in development for a request with `email` or `profile` and without `openid`, which the page then
    /// explains to the developer.
    public let explainsOpenID: Bool

    init(
        _ request: AuthorizationRequest, query: String, appName: LocalizedText, account: Account,
        scopes: [DeclaredScope], formToken: String, isExplained: Bool
    ) {
        explainsOpenID = isExplained && request.scopes.lacksOpenID
        client = request.client
        self.appName = appName
        target = request.target
        self.scopes = scopes
        self.account = account
        loginHint = request.loginHint
        self.formToken = formToken
        self.query = query
        languages = request.languages
    }

    /// Makes a prompt for a preview.
    init(
        client: OAuthClient, appName: LocalizedText, target: RedirectTarget, scopes: [DeclaredScope],
        account: Account, formToken: String
    ) {
        (self.client, self.appName, self.target) = (client, appName, target)
        (self.scopes, self.account, self.formToken) = (scopes, account, formToken)
        (loginHint, query, explainsOpenID) = (nil, "", false)
        languages = RequestedLanguages(query: "")
    }

    /// The `login_hint`, unless it names the account that is signed in.
    ///
    /// A hint that cannot be compared, because the account's address is hidden or not known, is shown too:
    /// the user can judge it.
    public var otherAccountHint: String? {
        guard let hint = loginHint, hint != account.id.rawValue,
            hint.lowercased() != account.email?.lowercased()
        else { return nil }
        return hint
    }

    public var sharesEmail: Bool { scopes.contains { $0.token == .email } }

    /// The same request, which first requests another account at Apple.
    public var otherAccountQuery: String {
        var query = query
        return query.withUTF8 { query in
            var prompts: Set = ["select_account"]
            var others: [UInt8] = []
            others.reserveCapacity(query.count + 48)
            var next = 0
            while next < query.count {
                let end =
                    WordScan.firstOffset(of: UInt8(ascii: "&"), in: UnsafeRawBufferPointer(query), from: next)
                    ?? query.count
                let pair = query[next..<end]
                next = end + 1
                guard !pair.isEmpty else { continue }
                guard !pair.starts(with: "prompt=".utf8) else {
                    // "login" and "consent" stay; words are separated by a space in either spelling.
                    let words = String(decoding: pair.dropFirst("prompt=".utf8.count), as: UTF8.self)
                        .replacing("%20", with: "+").split(separator: "+")
                    prompts.formUnion(words.map { String($0) })
                    continue
                }
                others += pair
                others.append(UInt8(ascii: "&"))
            }
            others += "prompt=\(prompts.sorted().joined(separator: "%20"))".utf8
            return String(decoding: others, as: UTF8.self)
        }
    }
}

/// Contents of the page that tells a user that the account is disabled.
public struct DisabledAccountNotice: Sendable {
    public let client: OAuthClient
    /// The URL of the client with the error `access_denied`, for the page's button.
    public let location: String
    public let languages: RequestedLanguages

    init(_ request: AuthorizationRequest) {
        client = request.client
        location = request.response.location(error: Self.error)
        languages = request.languages
    }

    static let error = OAuthError(.accessDenied, "The user's account is disabled.")
}
