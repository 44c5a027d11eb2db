public import AppleAccounts
public import AuthorizationServer
public import Commits

/// Ends a browser's session at the request of a client (OpenID Connect RP-Initiated Logout 1.0) or of the
/// user.
///
/// Ends only the session. Grants and tokens remain, so a client that wants to end its tokens must revoke
/// them.
///
/// Any site can redirect a browser to this endpoint, so the session ends immediately only if the request
/// contains an ID token of the session's user, which no other site has. Otherwise the page asks the user.
public struct LogoutUseCase: Sendable {
    public static let path = "/oauth/logout"

    public let authorize: AuthorizeUseCase

    /// - Parameter authorize: Provides the browser sessions, and the keys that verify ID tokens.
    public init(authorize: AuthorizeUseCase) {
        self.authorize = authorize
    }

    /// Handles a client's request.
    ///
    /// - Parameter query: The query as sent, which can be empty.
    /// - Throws: `StorageError` if a database operation fails.
    public func begin(_ query: String, from browser: AuthorizeBrowser) -> Step<LogoutOutcome> {
        guard let request = try? LogoutRequest(query: query) else { return .now(Self.malformed(query)) }
        return .later {
            let asker = try await asker(of: request)
            guard let session = try await authorize.liveSession(of: browser) else {
                return signedOut(request, asker)
            }
            if let account = asker.accountID, account == session.accountID,
                asker.client?.app == session.clientID
            {
                return try await end(session, request, asker)
            }
            let status = try await authorize.store.status(of: session.accountID, app: session.clientID)
            // The account was erased, so there is no user to ask.
            guard let account = status?.account else { return try await end(session, request, asker) }
            let query = request.query(clientID: asker.name)
            return LogoutOutcome(
                .ask(
                    LogoutPrompt(
                        client: asker.client, appName: authorize.appName(of: session.clientID),
                        account: account, target: request.target(at: asker.client), query: query,
                        formToken: FormToken.make(for: Self.purpose(of: query), in: session))),
                request.languages)
        }
    }

    /// Handles the page's posted form.
    ///
    /// - Parameter query: The query of the URL that the form was posted to.
    /// - Throws: `StorageError` if a database operation fails.
    public func answer(
        _ form: LogoutForm, query: String, from browser: AuthorizeBrowser
    ) -> Step<LogoutOutcome> {
        guard let request = try? LogoutRequest(query: query) else { return .now(Self.malformed(query)) }
        // The form is checked before the session, because a browser sends no cookie with a form from another
        // site (SameSite=Lax).
        guard let token = form.token, let decision = form.decision else {
            return .now(LogoutOutcome(.refusal(.formRefused), request.languages))
        }
        return .later {
            let asker = Asker(client: client(named: request.clientID), accountID: nil, name: request.clientID)
            // The session ended while the page was open, so the user is signed out.
            guard let session = try await authorize.liveSession(of: browser) else {
                return signedOut(request, asker)
            }
            guard FormToken.isValid(token, for: Self.purpose(of: query), in: session) else {
                return LogoutOutcome(.refusal(.formRefused), request.languages)
            }
            switch decision {
            case .signOut: return try await end(session, request, asker)
            case .stay: return LogoutOutcome(.stayed, request.languages)
            }
        }
    }

    private static func malformed(_ query: String) -> LogoutOutcome {
        LogoutOutcome(.refusal(.requestMalformed), RequestedLanguages(query: query))
    }

    /// The client that makes the request, and the user in its ID token.
    private struct Asker {
        let client: OAuthClient?
        let accountID: AccountID?
        /// The `client_id` for the form; `nil` if the request contradicts itself.
        let name: String?
    }

    /// Determines a request's client. An ID token for a client other than `client_id` does not authenticate
    /// the request. A client that is named only by `client_id` may use only its registered URIs.
    private func asker(of request: LogoutRequest) async throws -> Asker {
        guard let unverified = request.idTokenHint.flatMap({ IDTokenHint.Unverified($0) }),
            case .genuine(let hint) = try await authorize.keys.origin(
                of: unverified, issuer: authorize.issuer),
            let client = authorize.settings.clients[hint.clientID]
        else {
            return Asker(client: client(named: request.clientID), accountID: nil, name: request.clientID)
        }
        guard request.clientID ?? client.id.rawValue == client.id.rawValue else {
            return Asker(client: nil, accountID: nil, name: nil)
        }
        return Asker(client: client, accountID: hint.accountID, name: client.id.rawValue)
    }

    private func client(named id: String?) -> OAuthClient? { id.flatMap { authorize.settings.clients[$0] } }

    /// Ends the session in the store before the browser deletes its cookie, so that copies of the cookie
    /// become invalid too.
    private func end(
        _ session: BrowserSession, _ request: LogoutRequest, _ asker: Asker
    ) async throws -> LogoutOutcome {
        try await authorize.endedSessions.insert(session)
        return signedOut(request, asker, session: .end)
    }

    /// - Parameter session: `.keep` for a request without a session. The browser may still have a session,
    ///   because it sends no cookie with requests from other sites. Such a request must therefore not delete
    ///   the cookie.
    private func signedOut(
        _ request: LogoutRequest, _ asker: Asker, session: AuthorizeOutcome.SessionChange = .keep
    ) -> LogoutOutcome {
        if let location = request.location(at: asker.client) {
            return LogoutOutcome(.redirect(location), request.languages, session: session)
        }
        return LogoutOutcome(
            .signedOut(obstacle(of: request, asker)), request.languages, session: session)
    }

    private func obstacle(of request: LogoutRequest, _ asker: Asker) -> LogoutOutcome.Obstacle? {
        guard request.postLogoutRedirectURI != nil else { return nil }
        if asker.client != nil { return .redirectURIMismatch }
        return request.clientID == nil ? .clientMissing : .clientUnknown
    }

    /// Returns the message for the form's token. A query contains no line break, so another page's token is
    /// never valid here.
    private static func purpose(of query: String) -> String { "\(path)\n\(query)" }
}

/// The outcome of a logout request.
public struct LogoutOutcome: Sendable {
    public let action: Action
    public let languages: RequestedLanguages
    public let session: AuthorizeOutcome.SessionChange

    public enum Action: Sendable {
        /// The page asks the user whether to sign out.
        case ask(LogoutPrompt)
        /// A 303 redirect to the client. The session has ended, or the browser had no session.
        case redirect(String)
        /// A page that reports that the session has ended, or that there was no session.
        ///
        /// - Parameter obstacle: The reason why the browser does not return to the URI in the request.
        case signedOut(Obstacle?)
        /// A page that tells the user that the session remains.
        case stayed
        /// An error page. The request changed nothing.
        case refusal(Refusal)
    }

    /// The reason why a request with `post_logout_redirect_uri` leads to a page instead of a redirect.
    public enum Obstacle: String, Sendable, CaseIterable {
        /// The request contains neither `client_id` nor a valid `id_token_hint`.
        case clientMissing = "client_missing"
        /// The `client_id` is unknown, or the ID token is for another client.
        case clientUnknown = "invalid_client"
        case redirectURIMismatch = "redirect_uri_mismatch"
    }

    public enum Refusal: String, Sendable, CaseIterable {
        /// A parameter is repeated, malformed or too long.
        case requestMalformed = "invalid_request"
        /// The service did not show this form to this session, or the form was changed.
        case formRefused = "form_refused"
    }

    init(
        _ action: Action, _ languages: RequestedLanguages, session: AuthorizeOutcome.SessionChange = .keep
    ) {
        (self.action, self.languages, self.session) = (action, languages, session)
    }
}

/// The contents of the page that asks a user whether to sign out.
public struct LogoutPrompt: Sendable {
    /// The client that makes the request; `nil` if the request names no client.
    public let client: OAuthClient?
    /// The name of the app that the user has signed in to.
    public let appName: LocalizedText
    public let account: Account
    /// The registered URI that the browser is redirected to next; `nil` if there is no redirect.
    public let target: RedirectTarget?
    /// The query of the URL that the form is posted to.
    public let query: String
    public let formToken: String
}

/// The form with the user's decision.
public struct LogoutForm: Sendable {
    public enum Decision: String, Sendable, CaseIterable {
        case signOut = "sign_out"
        case stay
    }

    public var token: String?
    /// The user's decision; `nil` if the form contains neither of its values.
    public var decision: Decision?

    public init(token: String?, decision: Decision?) {
        (self.token, self.decision) = (token, decision)
    }
}
