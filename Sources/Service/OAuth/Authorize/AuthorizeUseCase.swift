public import AppleAccounts
public import AuthorizationServer
public import Commits
public import Cryptography
public import SignIn

/// The browser path of an authorization (RFC 6749 §4.1.1): sign-in with Apple, consent, code.
///
/// The request travels in the query, the session in a sealed cookie. Nothing is stored before a user presses
/// the button, or has pressed it for an earlier request, so that a flood of requests causes no disk writes.
public struct AuthorizeUseCase: Sendable {
    let settings: OAuthSettings
    let store: any AuthorizationStore
    let commits: GroupCommit<GrantCommand>
    /// The keys that sign ID tokens.
    let keys: SigningKeys
    public let web: WebSignIn
    let sessions: SessionSeal
    let endedSessions: EndedSessions
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - sealingKeys: The same in all replicas, because each may get the next request of a session.
    ///   - now: The wall clock.
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
    /// True in development: pages tell developers the reason of a refusal.
    public var explainsRefusals: Bool { settings.explainsRefusals }
    /// Returns the name of an app on the pages, by its primary client ID.
    public func appName(of app: ClientID) -> LocalizedText { settings.appName(of: app) }
    public var clients: [OAuthClient] { settings.clients.clients }

    /// `__Host-` keeps other hosts of the same site from setting it (RFC 6265bis §4.1.3.2).
    public var cookieName: String { web.settings.isSecure ? "__Host-siwa_session" : "siwa_session" }

    /// Handles `GET /oauth/authorize`.
    ///
    /// Waits only for a browser that has a session, and for a request with an ID token. Errors of the store go
    /// to the client.
    ///
    /// - Parameter query: The query as sent. It may be empty.
    public func begin(_ query: String, from browser: AuthorizeBrowser) -> Step<AuthorizeOutcome> {
        visit(query, browser) { $0.begin() }
    }

    /// Handles `POST /oauth/authorize` with the form of the consent page.
    ///
    /// - Parameter query: The query of the form's URL.
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

    /// Returns `true` if the request keeps every rule that does not depend on a user.
    public func isValid(_ query: String, from browser: AuthorizeBrowser) -> Bool {
        if case .proceed = check(query, browser) { true } else { false }
    }

    func check(_ query: String, _ browser: AuthorizeBrowser) -> AuthorizationDecision {
        AuthorizationRequestCheck(settings).check(query.utf8, as: .query, userAgent: browser.userAgent)
    }
}
