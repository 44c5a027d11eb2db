public import AppleAccounts
public import AuthorizationServer

/// The next step of a request to end the session of a browser.
public struct LogoutOutcome: Sendable {
    public let action: Action
    public let languages: RequestedLanguages
    public let session: AuthorizeOutcome.SessionChange

    public enum Action: Sendable {
        /// The page that asks the user.
        case ask(LogoutPrompt)
        /// The session has ended, or there was none. Redirects to the client, by 303.
        case redirect(String)
        /// The session has ended, or there was none. A page that says so.
        ///
        /// - Parameter obstacle: The reason for which the browser does not go to the URI of the request.
        case signedOut(Obstacle?)
        /// The user stays signed in. A page that says so.
        case stayed
        /// An error page. Nothing was changed.
        case refusal(Refusal)
    }

    /// Reasons for which a request with `post_logout_redirect_uri` ends with a page.
    public enum Obstacle: String, Sendable, CaseIterable {
        /// The request has neither `client_id` nor a valid `id_token_hint`.
        case clientMissing = "client_missing"
        /// No client has this `client_id`, or the client of the ID token is another.
        case clientUnknown = "invalid_client"
        case redirectURIMismatch = "redirect_uri_mismatch"
    }

    public enum Refusal: String, Sendable, CaseIterable {
        /// A parameter is repeated, malformed or too long.
        case requestMalformed = "invalid_request"
        /// The form was not shown to this session, or it was changed.
        case formRefused = "form_refused"
    }

    init(
        _ action: Action, _ languages: RequestedLanguages, session: AuthorizeOutcome.SessionChange = .keep
    ) {
        (self.action, self.languages, self.session) = (action, languages, session)
    }
}

/// Contents of the page that asks a user whether to sign out.
public struct LogoutPrompt: Sendable {
    /// The client that asks; `nil` when the request names none.
    public let client: OAuthClient?
    /// The name of the app that the user has signed in to.
    public let appName: LocalizedText
    public let account: Account
    /// The registered URI of the redirect that follows; `nil` for none.
    public let target: RedirectTarget?
    /// The form is posted to this query.
    public let query: String
    public let formToken: String
}

/// The form with which a user decides.
public struct LogoutForm: Sendable {
    public enum Decision: String, Sendable, CaseIterable {
        case signOut = "sign_out"
        case stay
    }

    public var token: String?
    /// `nil` when the form has neither word.
    public var decision: Decision?

    public init(token: String?, decision: Decision?) {
        (self.token, self.decision) = (token, decision)
    }
}
