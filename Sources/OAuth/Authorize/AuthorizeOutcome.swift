public import AuthorizationServer
public import SignIn

/// How a request to `/oauth/authorize` goes on.
public struct AuthorizeOutcome: Sendable {
    public let action: Action
    public let session: SessionChange

    public enum Action: Sendable {
        /// A page that says why the request cannot be answered.
        case page(AuthorizationPageError)
        /// A page that says why the posted form does not count.
        case refusal(FormRefusal)
        /// The page that asks for consent.
        case ask(ConsentPrompt)
        /// To the client with a code, by 303.
        case code(String)
        /// To the client with an error, by 303.
        case error(OAuthError.Code, String)
        /// Back to this endpoint after a sign-in, by 303.
        case resume(String)
        /// To Apple's page, by 303.
        case signIn(WebAuthorizationRequest)
    }

    /// What becomes of the session's cookie.
    public enum SessionChange: Sendable, Hashable {
        case keep
        /// The cookie's value, and for how many seconds it is kept.
        case set(String, seconds: Int64)
        case end
    }

    init(_ action: Action, session: SessionChange = .keep) {
        (self.action, self.session) = (action, session)
    }

    /// Tells the client of an error.
    init(_ error: OAuthError, by response: AuthorizationResponse, session: SessionChange = .keep) {
        self.init(.error(error.code, response.location(error: error)), session: session)
    }
}

/// Why a posted consent form does not count. Nothing was written.
public struct FormRefusal: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// It was not shown to this session for this request, or it was changed.
        case formRefused = "form_refused"
        /// The session is over, or the sign-in was withdrawn or is too old.
        case loginRequired = "login_required"
    }

    public let code: Code
    /// Of the request, which can begin again.
    public let query: String
    public let languages: RequestedLanguages
}
