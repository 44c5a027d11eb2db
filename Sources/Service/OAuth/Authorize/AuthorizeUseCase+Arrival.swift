import AppleAccounts
import AuthorizationServer
import Cryptography
public import SignIn

/// Arrival of the browser from Apple.
extension AuthorizeUseCase {
    /// The path of the authorization endpoint.
    public static let path = "/oauth/authorize"

    /// Begins the session of a browser that has signed in, and goes on with its request.
    ///
    /// The session's lifetime begins with the verification of Apple's token, so that using the same URL twice
    /// does not extend it.
    ///
    /// - Parameter sessionCookie: The cookie as the browser sent it.
    public func arrive(
        _ authentication: WebAuthentication, query: String, sessionCookie: String?
    ) -> AuthorizeOutcome {
        AuthorizeOutcome(
            .resume("\(Self.path)?\(query)"),
            session: beginSession(of: authentication, for: query, sessionCookie: sessionCookie))
    }

    /// Begins the session of a browser that has signed in.
    ///
    /// - Parameters:
    ///   - request: Names the request for which the browser was at Apple.
    ///   - sessionCookie: The cookie as the browser sent it.
    func beginSession(
        of authentication: WebAuthentication, for request: String, sessionCookie: String?
    ) -> AuthorizeOutcome.SessionChange {
        let now = now()
        let expiresAt = authentication.signedInAt.advanced(byMilliseconds: settings.sessionLifetime * 1000)
        let old = sessions.open(sessionCookie).flatMap { old in
            old.accountID == authentication.accountID && old.isGood(for: authentication.clientID, at: now)
                ? old : nil
        }
        var session = BrowserSession(
            accountID: authentication.accountID, clientID: authentication.clientID,
            authenticatedAt: authentication.authenticatedAt, expiresAt: expiresAt,
            roundTrip: RoundTrip(
                requestDigest: SHA256Digest.hash(request), begunAt: authentication.begunAt))
        // The forms in other tabs of the same user stay valid.
        if let old { session.formKey = old.formKey }
        return cookie(of: session, at: now)
    }

    /// Redirects to the client with an error after a failed sign-in at Apple. The user of a disabled account
    /// first sees a page that says so.
    public func refuse(_ failure: WebFailure, query: String, from browser: AuthorizeBrowser)
        -> AuthorizeOutcome
    {
        switch check(query, browser) {
        case .page(let error): AuthorizeOutcome(.page(error))
        case .redirect(let response, let error): AuthorizeOutcome(error, by: response)
        case .proceed(let request) where failure.isOfDisabledAccount:
            AuthorizeOutcome(.disabled(DisabledAccountNotice(request)))
        case .proceed(let request): AuthorizeOutcome(OAuthError(failure), by: request.response)
        }
    }

    func cookie(of session: BrowserSession, at now: Moment) -> AuthorizeOutcome.SessionChange {
        let seconds = (session.expiresAt.milliseconds - now.milliseconds) / 1000
        return seconds > 0 ? .set(sessions.seal(session), seconds: seconds) : .end
    }
}

extension OAuthError {
    /// Apple's error is not signed, so none of its text goes to the client.
    fileprivate init(_ failure: WebFailure) {
        switch failure.error {
        case "user_cancelled_authorize", "user_trigger_new_signin_flow", "access_denied", "sign_in_refused":
            self.init(.accessDenied, "The user did not sign in with Apple.")
        case "temporarily_unavailable":
            self.init(.temporarilyUnavailable, "Sign in with Apple cannot be checked now; try again later.")
        default: self.init(.serverError, "The sign-in with Apple failed; try again.")
        }
    }
}
