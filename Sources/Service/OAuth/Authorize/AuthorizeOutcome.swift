public import AuthorizationServer
public import SignIn

/// The next step of a request to `/oauth/authorize`.
public struct AuthorizeOutcome: Sendable {
    public let action: Action
    public let session: SessionChange

    public enum Action: Sendable {
        /// A page that names the fault of the request.
        case page(AuthorizationPageError)
        /// A page with the reason for which the posted form is refused.
        case refusal(FormRefusal)
        /// A page that says that the account is disabled, and leads to the client.
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

/// Reasons for which a posted consent form is refused. Nothing was written.
public struct FormRefusal: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// The form was not shown to this session for this request, or it was changed.
        case formRefused = "form_refused"
        /// The session has ended, or the sign-in was revoked or is too old.
        case loginRequired = "login_required"
    }

    public let code: Code
    /// The query of the request, which can begin again.
    public let query: String
    public let languages: RequestedLanguages
}
