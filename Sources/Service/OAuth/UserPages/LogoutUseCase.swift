public import AppleAccounts
public import AuthorizationServer
public import Commits

/// Ends the session of a browser at the request of a client (OpenID Connect RP-Initiated Logout 1.0), or of the
/// user.
///
/// Only the session ends. Grants and tokens stay: a client that wants to end its tokens revokes them.
///
/// Every site can send a browser here. So the session ends at once only with an ID token of its own user,
/// which no other site has; otherwise the page asks the user.
public struct LogoutUseCase: Sendable {
    public static let path = "/oauth/logout"

    public let authorize: AuthorizeUseCase

    /// - Parameter authorize: Provides the browser sessions, and the keys that sign ID tokens.
    public init(authorize: AuthorizeUseCase) {
        self.authorize = authorize
    }

    /// Handles a request of a client.
    ///
    /// - Parameter query: The query as sent. It may be empty.
    /// - Throws: `StorageError`.
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
            // The account has been erased, so there is no user to ask.
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

    /// Handles the form of the page.
    ///
    /// - Parameter query: The query of the form's URL.
    /// - Throws: `StorageError`.
    public func answer(
        _ form: LogoutForm, query: String, from browser: AuthorizeBrowser
    ) -> Step<LogoutOutcome> {
        guard let request = try? LogoutRequest(query: query) else { return .now(Self.malformed(query)) }
        // Checked before the session: a browser does not send
        // its cookie with a form of another site (SameSite=Lax).
        guard let token = form.token, let decision = form.decision else {
            return .now(LogoutOutcome(.refusal(.formRefused), request.languages))
        }
        return .later {
            let asker = Asker(client: client(named: request.clientID), accountID: nil, name: request.clientID)
            // The session has ended while the page was open, which is a success for the user.
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

    /// The requesting client, and the user of its ID token.
    private struct Asker {
        let client: OAuthClient?
        let accountID: AccountID?
        /// The `client_id` of the form. `nil` for a request that contradicts itself.
        let name: String?
    }

    /// An ID token of a client other than `client_id` is not from the requesting client. A client that only
    /// names itself may use only its registered URIs.
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

    /// The session ends in the store before the browser loses its cookie, so that a copy of the cookie ends too.
    private func end(
        _ session: BrowserSession, _ request: LogoutRequest, _ asker: Asker
    ) async throws -> LogoutOutcome {
        try await authorize.endedSessions.insert(session)
        return signedOut(request, asker, session: .end)
    }

    /// - Parameter session: `.keep` for a request without a session. Its browser may still have a session: it
    ///   sends no cookie with requests of other sites, and such a request must not delete the cookie.
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

    /// The message of a form's token. No query has a line
    /// break, so a token of another page is never valid here.
    private static func purpose(of query: String) -> String { "\(path)\n\(query)" }
}

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
        /// A page for an ended session, or for a request without a session.
        ///
        /// - Parameter obstacle: Reason why the browser does not return to the URI of the request.
        case signedOut(Obstacle?)
        /// A page that says that the user stays signed in.
        case stayed
        /// An error page. Nothing was changed.
        case refusal(Refusal)
    }

    /// Reasons why a request with `post_logout_redirect_uri` ends with a page.
    public enum Obstacle: String, Sendable, CaseIterable {
        /// The request has neither `client_id` nor a valid `id_token_hint`.
        case clientMissing = "client_missing"
        /// No client has this `client_id`, or the ID token is for another client.
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
    /// The requesting client; `nil` if the request names no client.
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
