public import AppleAccounts
public import AuthorizationServer
public import Commits
public import SignIn

/// The page that shows users which clients have access to their account, and lets them end the grants.
///
/// The user signs in with Apple as on the consent page, and both pages share the session. Nothing is stored
/// before the user removes a grant.
public struct ConnectionsUseCase: Sendable {
    public static let path = "/account/connections"

    public let authorize: AuthorizeUseCase
    private let server: OAuthServer

    /// - Parameter authorize: Provides the browser sessions and the sign-in.
    public init(_ server: OAuthServer, authorize: AuthorizeUseCase) {
        (self.server, self.authorize) = (server, authorize)
    }

    /// The apps with OAuth clients, in configuration order.
    private var apps: [ClientID] {
        authorize.settings.clients.clients.map(\.app).reduce(into: []) { apps, app in
            if !apps.contains(app) { apps.append(app) }
        }
    }

    /// Handles `GET /account/connections`. Waits only if the browser has a session.
    ///
    /// - Parameter query: The query as sent, which can be empty.
    /// - Throws: `StorageError` if a database operation fails.
    public func begin(_ query: String, from browser: AuthorizeBrowser) -> Step<ConnectionsOutcome> {
        let query = self.query(query)
        if let userAgent = browser.userAgent, EmbeddedWebView.isOne(userAgent: userAgent) {
            return .now(ConnectionsOutcome(.refusal(.embeddedBrowser), query))
        }
        guard let session = session(for: query, of: browser) else {
            return .now(withoutSession(query, browser))
        }
        return .later { try await page(query, session, browser) }
    }

    /// Handles `POST /account/connections`: ends a grant just as the app's backend would, including the
    /// reports.
    ///
    /// - Throws: `StorageError`, `OverloadedError`.
    public func remove(
        _ form: ConnectionsForm, query: String, from browser: AuthorizeBrowser
    ) -> Step<ConnectionsOutcome> {
        let query = self.query(query)
        guard let token = form.token, let grantID = form.grant.flatMap({ GrantID($0) }) else {
            return .now(ConnectionsOutcome(.refusal(.formRefused), query))
        }
        guard let session = session(for: query, of: browser) else {
            return .now(ConnectionsOutcome(.refusal(.signInNeeded), query))
        }
        guard FormToken.isValid(token, for: Self.purpose(of: grantID), in: session) else {
            return .now(ConnectionsOutcome(.refusal(.formRefused), query))
        }
        let command = EndGrantCommand(
            grantID: grantID, accountID: session.accountID, scope: .all, reason: .unlinked,
            moment: server.now(),
            authentication: UserAuthentication(
                clientID: session.clientID, authenticatedAt: session.authenticatedAt))
        return .later {
            guard try await !authorize.endedSessions.contains(session, at: server.now()) else {
                return ConnectionsOutcome(.refusal(.signInNeeded), query, session: .end)
            }
            do {
                _ = try await server.dependencies.commits.submit(command)
            } catch let refusal as GrantRefusal {
                // The grant has already ended, as the user requested.
                guard refusal.code == .grantNotFound else {
                    return ConnectionsOutcome(.refusal(.signInNeeded), query, session: .end)
                }
            }
            return ConnectionsOutcome(.redirect("\(Self.path)?\(query.textAfterRemoval)"), query)
        }
    }

    /// Starts the session of a browser whose user has signed in, and continues its request.
    ///
    /// - Parameter sessionCookie: The session cookie as the browser sent it.
    public func arrive(
        _ authentication: WebAuthentication, query: String, sessionCookie: String?
    ) -> ConnectionsOutcome {
        let query = self.query(query)
        return ConnectionsOutcome(
            .redirect(Self.address(of: query)), query,
            session: authorize.beginSession(
                of: authentication, for: Self.address(of: query), sessionCookie: sessionCookie))
    }

    /// Handles a failed sign-in at Apple.
    public func refuse(_ failure: WebFailure, query: String) -> ConnectionsOutcome {
        ConnectionsOutcome(
            .refusal(failure.error == "temporarily_unavailable" ? .unavailable : .signInNeeded),
            self.query(query))
    }

    private func query(_ text: String) -> ConnectionsQuery {
        ConnectionsQuery(text, among: authorize.settings.languages)
    }

    private func session(for query: ConnectionsQuery, of browser: AuthorizeBrowser) -> BrowserSession? {
        authorize.sessions.open(browser.session).flatMap { session in
            let app = query.app ?? session.clientID.rawValue
            return app == session.clientID.rawValue && session.isGood(for: session.clientID, at: server.now())
                ? session : nil
        }
    }

    private func withoutSession(
        _ query: ConnectionsQuery, _ browser: AuthorizeBrowser
    ) -> ConnectionsOutcome {
        let apps = apps
        guard let name = query.app ?? (apps.count == 1 ? apps[0].rawValue : nil) else {
            return ConnectionsOutcome(.choose(apps.map { ($0, authorize.appName(of: $0)) }), query)
        }
        guard let app = apps.first(where: { $0.rawValue == name }) else {
            return ConnectionsOutcome(.refusal(.pageUnknown), query)
        }
        return signIn(to: app, query, browser)
    }

    private func signIn(
        to app: ClientID, _ query: ConnectionsQuery, _ browser: AuthorizeBrowser,
        session: AuthorizeOutcome.SessionChange = .keep
    ) -> ConnectionsOutcome {
        let query = query.of(app: app.rawValue)
        do throws(UnknownClientID) {
            let request = try authorize.web.begin(
                connectionsOf: app, query: query.text, cookie: browser.webSignIn)
            return ConnectionsOutcome(.signIn(request), query, session: session)
        } catch {
            // The check at start-up prevents this configuration.
            return ConnectionsOutcome(.refusal(.pageUnknown), query)
        }
    }

    private func page(
        _ query: ConnectionsQuery, _ session: BrowserSession, _ browser: AuthorizeBrowser
    ) async throws -> ConnectionsOutcome {
        guard try await !authorize.endedSessions.contains(session, at: server.now()) else {
            return signIn(to: session.clientID, query, browser)
        }
        let status = try await authorize.store.status(of: session.accountID, app: session.clientID)
        guard let status, status.isAuthorized,
            // A revocation has ended all earlier sessions, even if the user has signed in since.
            status.admits(authenticatedAt: session.authenticatedAt)
        else {
            // The browser has already been at Apple for this page, so another round trip would have the same
            // result.
            let hasReturned = session.roundTrip?.isFor(Self.address(of: query)) ?? false
            return hasReturned
                ? ConnectionsOutcome(.refusal(.signInNeeded), query, session: .end)
                : signIn(to: session.clientID, query, browser)
        }
        let grants = try await authorize.store.grants(of: session.accountID)
            // An account has at most one grant per client, so this order is the same at each visit.
            .sorted { ($0.createdAt, $0.oauthClientID) < ($1.createdAt, $1.oauthClientID) }
        let list = ConnectionList(
            account: status.account, appName: authorize.appName(of: session.clientID),
            connections: grants.map { connection($0, session) })
        return ConnectionsOutcome(.show(list), query)
    }

    private func connection(_ grant: GrantRecord, _ session: BrowserSession) -> ConnectionList.Connection {
        let catalog = authorize.settings.scopes
        let scopes = (ScopeSet(parsing: grant.scope)?.tokens ?? []).map { token in
            catalog[token]?.text ?? LocalizedText(english: token.rawValue)
        }
        let client = authorize.settings.clients[grant.oauthClientID]
        return ConnectionList.Connection(
            grant: grant, client: client,
            name: client?.name ?? LocalizedText(english: grant.oauthClientID.rawValue), scopes: scopes,
            formToken: FormToken.make(for: Self.purpose(of: grant.id), in: session))
    }

    private static func address(of query: ConnectionsQuery) -> String { "\(path)?\(query.text)" }

    /// Returns the message for the form's token. An authorization request's query contains no line break, so
    /// a consent page's token is never valid here.
    private static func purpose(of grant: GrantID) -> String { "\(path)\n\(grant.rawValue)" }
}

/// The form that removes a grant.
public struct ConnectionsForm: Sendable {
    public var token: String?
    public var grant: String?

    public init(token: String?, grant: String?) {
        (self.token, self.grant) = (token, grant)
    }
}

/// The outcome of a request to the connections page.
public struct ConnectionsOutcome: Sendable {
    public let action: Action
    public let query: ConnectionsQuery
    public let session: AuthorizeOutcome.SessionChange

    public enum Action: Sendable {
        /// The page that lists the clients.
        case show(ConnectionList)
        /// A page where the user chooses the app to sign in to.
        case choose([(app: ClientID, name: LocalizedText)])
        /// A 303 redirect to Apple's page.
        case signIn(WebAuthorizationRequest)
        /// A 303 redirect to the connections page.
        case redirect(String)
        /// An error page. Its reason is `pageUnknown` if the query names an app without OAuth clients.
        case refusal(UserPageRefusal)
    }

    init(
        _ action: Action, _ query: ConnectionsQuery, session: AuthorizeOutcome.SessionChange = .keep
    ) {
        (self.action, self.query, self.session) = (action, query, session)
    }
}

/// The clients with access to an account.
public struct ConnectionList: Sendable {
    public let account: Account
    /// The name of the app that the user has signed in to.
    public let appName: LocalizedText
    /// Sorted by age, the oldest connection first, and then by client ID. Includes grants for the team's
    /// other apps.
    public let connections: [Connection]

    public struct Connection: Sendable {
        public let grant: GrantRecord
        /// The client; `nil` if it is no longer configured.
        public let client: OAuthClient?
        public let name: LocalizedText
        /// Descriptions of all scopes that the user has granted.
        public let scopes: [LocalizedText]
        /// The token, which proves that the service showed this form to this session.
        public let formToken: String
    }
}

/// The reason why a user page shows an error. The request changed nothing.
public enum UserPageRefusal: String, Sendable, CaseIterable {
    /// No page exists for the query.
    case pageUnknown = "not_found"
    case embeddedBrowser = "disallowed_useragent"
    /// The service did not show this form to this session for this purpose, or the form was changed.
    case formRefused = "form_refused"
    /// The session or the credential has ended, or the sign-in at Apple failed.
    case signInNeeded = "login_required"
    case unavailable = "temporarily_unavailable"
}
