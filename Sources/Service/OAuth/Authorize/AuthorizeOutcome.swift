public import AppleAccounts
public import AuthorizationServer
import Encodings
public import SignIn

/// The next step of a request to `/oauth/authorize`.
public struct AuthorizeOutcome: Sendable {
    public let action: Action
    public let session: SessionChange

    public enum Action: Sendable {
        /// A page that explains the fault in the request.
        case page(AuthorizationPageError)
        /// A page that explains why the posted form was refused.
        case refusal(FormRefusal)
        /// A page about a disabled account, with a link to the client.
        case disabled(DisabledAccountNotice)
        /// The consent page.
        case ask(ConsentPrompt)
        /// A 303 redirect to the client with a code.
        case code(String)
        /// A 303 redirect to the client with an error.
        case error(OAuthError.Code, String)
        /// A 303 redirect back to this endpoint, after a sign-in.
        case resume(String)
        /// A 303 redirect to Apple's page.
        case signIn(WebAuthorizationRequest)
    }

    /// A change to the session cookie.
    public enum SessionChange: Sendable, Hashable {
        case keep
        /// The new value of the cookie, and its lifetime in seconds.
        case set(String, seconds: Int64)
        case end
    }

    init(_ action: Action, session: SessionChange = .keep) {
        (self.action, self.session) = (action, session)
    }

    /// Creates the outcome that redirects to the client with an error.
    init(_ error: OAuthError, by response: AuthorizationResponse, session: SessionChange = .keep) {
        self.init(.error(error.code, response.location(error: error)), session: session)
    }
}

/// The reason why a posted consent form was refused. A refused form stores nothing.
public struct FormRefusal: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// The service did not show this form to this session for this request, or the form was changed.
        case formRefused = "form_refused"
        /// The session has ended, or its sign-in was revoked or is too old.
        case loginRequired = "login_required"
    }

    public let code: Code
    /// The request's query, so that the user can start over.
    public let query: String
    public let languages: RequestedLanguages
}

/// The contents of the consent page and its form.
public struct ConsentPrompt: Sendable {
    public let client: OAuthClient
    /// The user-visible name of the app whose account the client requests.
    public let appName: LocalizedText
    public let target: RedirectTarget
    /// The scopes that the client requests, in the order of the request.
    public let scopes: [DeclaredScope]
    public let account: Account
    /// The account that the client suggests, as written in the request.
    public let loginHint: String?
    public let formToken: String
    /// The request's unchanged query. The form is posted to a URL with this query.
    public let query: String
    public let languages: RequestedLanguages
    /// True in development if the request contains `email` or `profile` but not `openid`. The page then
    /// explains the omission to the developer.
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

    /// Creates a prompt for a page preview.
    init(
        client: OAuthClient, appName: LocalizedText, target: RedirectTarget, scopes: [DeclaredScope],
        account: Account, formToken: String
    ) {
        (self.client, self.appName, self.target) = (client, appName, target)
        (self.scopes, self.account, self.formToken) = (scopes, account, formToken)
        (loginHint, query, explainsOpenID) = (nil, "", false)
        languages = RequestedLanguages(query: "")
    }

    /// The `login_hint`, unless it names the signed-in account.
    ///
    /// Includes a hint that cannot be compared, because the account's address is hidden or unknown. The user
    /// can judge such a hint.
    public var otherAccountHint: String? {
        guard let hint = loginHint, hint != account.id.rawValue,
            hint.lowercased() != account.email?.lowercased()
        else { return nil }
        return hint
    }

    public var sharesEmail: Bool { scopes.contains { $0.token == .email } }

    /// The query for the same request, but with a choice of another Apple account first.
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
                    // The query keeps "login" and "consent". Either encoding of a space can separate the
                    // words.
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

/// The contents of the page about a disabled account.
public struct DisabledAccountNotice: Sendable {
    public let client: OAuthClient
    /// The client's URL with the error `access_denied`, for the page's button.
    public let location: String
    public let languages: RequestedLanguages

    init(_ request: AuthorizationRequest) {
        client = request.client
        location = request.response.location(error: Self.error)
        languages = request.languages
    }

    static let error = OAuthError(.accessDenied, "The user's account is disabled.")
}
