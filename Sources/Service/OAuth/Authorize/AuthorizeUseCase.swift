public import AppleAccounts
public import AuthorizationServer
public import Commits
public import Cryptography
public import SignIn

/// Authorizes a client in a browser (RFC 6749 §4.1.1): sign-in with Apple, consent, and code.
///
/// The query contains the request, and a sealed cookie contains the session. Nothing is stored unless a user
/// presses a button or has consented to an earlier request, so a flood of requests causes no disk writes.
public struct AuthorizeUseCase: Sendable {
    let settings: OAuthSettings
    let store: any AuthorizationStore
    let commits: GroupCommit<GrantCommand>
    /// The keys that sign and verify ID tokens.
    let keys: SigningKeys
    public let web: WebSignIn
    let sessions: SessionSeal
    let endedSessions: EndedSessions
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - sealingKeys: The keys for cookies. All replicas need the same keys, because any replica may
    ///     receive a session's next request.
    ///   - now: Returns the wall-clock time.
    public init(
        settings: OAuthSettings, store: any AuthorizationStore, commits: GroupCommit<GrantCommand>,
        keys: SigningKeys, web: WebSignIn,
        sealingKeys: SealingKeyRing, now: @escaping @Sendable () -> Moment
    ) {
        self.settings = settings
        self.store = store
        self.commits = commits
        self.keys = keys
        self.web = web
        sessions = SessionSeal(keys: sealingKeys)
        endedSessions = EndedSessions(tickets: web.tickets)
        self.now = now
    }

    public var issuer: Issuer { settings.issuer }
    public var languages: PageLanguages { settings.languages }
    /// True in development, where pages explain refusals to developers.
    public var explainsRefusals: Bool { settings.explainsRefusals }
    /// Returns the name that pages show for the app with this primary client ID.
    public func appName(of app: ClientID) -> LocalizedText { settings.appName(of: app) }
    public var clients: [OAuthClient] { settings.clients.clients }

    /// Name of the session cookie. The `__Host-` prefix prevents other hosts in the same site from setting
    /// the cookie (RFC 6265bis §4.1.3.2).
    public var cookieName: String { web.settings.isSecure ? "__Host-siwa_session" : "siwa_session" }

    /// Handles `GET /oauth/authorize`.
    ///
    /// Waits only if the browser has a session or the request contains an ID token. The client receives the
    /// store's errors.
    ///
    /// - Parameter query: The query as sent, which can be empty.
    public func begin(_ query: String, from browser: AuthorizeBrowser) -> Step<AuthorizeOutcome> {
        visit(query, browser) { $0.begin() }
    }

    /// Handles `POST /oauth/authorize` with the consent page's form.
    ///
    /// - Parameter query: The query of the URL that the form was posted to.
    public func response(
        _ query: String, with form: ConsentForm, from browser: AuthorizeBrowser
    ) -> Step<AuthorizeOutcome> {
        visit(query, browser) { $0.response(form) }
    }

    private func visit(
        _ query: String, _ browser: AuthorizeBrowser,
        _ carryOut: (AuthorizeVisit) -> Step<AuthorizeOutcome>
    ) -> Step<AuthorizeOutcome> {
        switch check(query, browser) {
        case .page(let error): .now(AuthorizeOutcome(.page(error)))
        case .redirect(let response, let error): .now(AuthorizeOutcome(error, by: response))
        case .proceed(let request):
            carryOut(
                AuthorizeVisit(
                    useCase: self, request: request, query: query, session: sessions.open(browser.session),
                    webCookie: browser.webSignIn, now: now()))
        }
    }

    /// Returns `true` if the request obeys all rules that do not depend on a user.
    public func isValid(_ query: String, from browser: AuthorizeBrowser) -> Bool {
        if case .proceed = check(query, browser) { true } else { false }
    }

    func check(_ query: String, _ browser: AuthorizeBrowser) -> AuthorizationDecision {
        AuthorizationRequestCheck(settings).check(query.utf8, as: .query, userAgent: browser.userAgent)
    }
}

/// Handles the browser's return from Apple.
extension AuthorizeUseCase {
    /// The path of the authorization endpoint.
    public static let path = "/oauth/authorize"

    /// Starts a session for the user who has signed in, and resumes the authorization request that led to
    /// Apple.
    ///
    /// The session's lifetime starts when Apple's token is verified, so requesting the same URL again does
    /// not extend it.
    ///
    /// - Parameter sessionCookie: The session cookie as the browser sent it.
    public func arrive(
        _ authentication: WebAuthentication, query: String, sessionCookie: String?
    ) -> AuthorizeOutcome {
        AuthorizeOutcome(
            .resume("\(Self.path)?\(query)"),
            session: beginSession(of: authentication, for: query, sessionCookie: sessionCookie))
    }

    /// Starts the session of a browser whose user has signed in.
    ///
    /// - Parameters:
    ///   - request: Identifies the request that sent the browser to Apple.
    ///   - sessionCookie: The session cookie as the browser sent it.
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
        // The form key does not change for the same user, so that forms in other tabs remain valid.
        if let old { session.formKey = old.formKey }
        return cookie(of: session, at: now)
    }

    /// Redirects to the client with an error after a failed sign-in at Apple. If the account is disabled, the
    /// user first sees a page about the disabled account.
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
    /// Creates the error that the client receives after a failed sign-in at Apple. Apple's own error is not
    /// signed, so none of its text reaches the client.
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

extension AuthorizeUseCase {
    /// Returns the browser's session for any app; `nil` if the session has expired or was ended.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func liveSession(of browser: AuthorizeBrowser) async throws -> BrowserSession? {
        let now = now()
        guard let session = sessions.open(browser.session), session.isGood(for: session.clientID, at: now),
            try await !endedSessions.contains(session, at: now)
        else { return nil }
        return session
    }
}

/// Cookies and headers of a request to `/oauth/authorize`.
public struct AuthorizeBrowser: Sendable {
    /// The value of the session cookie.
    public var session: String?
    /// The value of the web sign-in cookie.
    public var webSignIn: String?
    public var userAgent: String?

    public init(session: String? = nil, webSignIn: String? = nil, userAgent: String? = nil) {
        (self.session, self.webSignIn, self.userAgent) = (session, webSignIn, userAgent)
    }
}

/// The user's decision on the consent page.
public struct ConsentForm: Sendable {
    public enum Decision: String, Sendable, CaseIterable {
        case agree, cancel
    }

    public var token: String?
    /// The user's decision; `nil` if the form contains neither of its values.
    public var decision: Decision?
    /// The scopes with ticked checkboxes. Scopes that were not requested have no effect.
    public var tickedScopes: Set<String>

    public init(token: String?, decision: Decision?, tickedScopes: Set<String> = []) {
        (self.token, self.decision, self.tickedScopes) = (token, decision, tickedScopes)
    }
}
