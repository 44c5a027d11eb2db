/// A request to `/oauth/authorize` that keeps every rule (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). The
/// person has not been asked yet.
public struct AuthorizationRequest: Sendable {
    public let client: OAuthClient
    /// Where the answer goes, and its `state` and `iss`.
    public let response: AuthorizationResponse
    /// What the client asks for: all of its scopes when it named none. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let nonce: String?
    public let prompts: Set<Prompt>
    /// How many seconds ago the person may have signed in at Apple: the stricter one of `max_age` and of the
    /// client's `max_authentication_age`. `nil` is no bound.
    public let maxAge: Int64?
    /// An e-mail address or a subject. It is told to the person, who can choose another account.
    public let loginHint: String?
    public let languages: RequestedLanguages

    /// A value of `prompt`.
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// No page may be shown.
        case none
        /// The person must sign in again.
        case login
        /// The person must be asked for consent again.
        case consent
        case selectAccount = "select_account"
    }

    public var target: RedirectTarget { response.target }

    /// Whether the person must be sent to Apple even though there is a session. `max_age=0` is `prompt=login`
    /// (OpenID Connect Core §3.1.2.1).
    public var asksForSignIn: Bool {
        prompts.contains(.login) || prompts.contains(.selectAccount) || maxAge == 0
    }

    /// Whether the consent page is shown even though the person has agreed to these scopes before.
    public var alwaysAsksForConsent: Bool {
        prompts.contains(.consent) || !client.remembersConsent
    }
}
