/// A request to `/oauth/authorize` that keeps every rule (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). The
/// end user has not been asked for consent yet.
public struct AuthorizationRequest: Sendable {
    public let client: OAuthClient
    /// The destination of the response, and its `state` and `iss`.
    public let response: AuthorizationResponse
    /// Requested scopes: all of the client's scopes when the request named none. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let nonce: String?
    public let prompts: Set<Prompt>
    /// Largest age in seconds of the user's sign-in at Apple: the stricter of `max_age` and the client's
    /// `max_authentication_age`. `nil` is no bound.
    public let maxAge: Int64?
    /// An e-mail address or a subject. The page shows it to the user, who can choose another account.
    public let loginHint: String?
    /// An ID token of the user who is meant. Its signature is not checked yet.
    public let idTokenHint: IDTokenHint.Unverified?
    public let languages: RequestedLanguages

    /// A value of `prompt`.
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// No page may be shown.
        case none
        /// The user must sign in again.
        case login
        /// The user must be asked for consent again.
        case consent
        case selectAccount = "select_account"
    }

    public var target: RedirectTarget { response.target }

    /// True if the user must sign in at Apple even if there is a session. `max_age=0` is `prompt=login`
    /// (OpenID Connect Core §3.1.2.1).
    public var asksForSignIn: Bool {
        prompts.contains(.login) || prompts.contains(.selectAccount) || maxAge == 0
    }

    /// True if the consent page is shown even if the user has agreed to these scopes before.
    public var alwaysAsksForConsent: Bool {
        prompts.contains(.consent) || !client.kind.remembersConsent
    }
}
