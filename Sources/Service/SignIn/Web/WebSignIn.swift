public import AppleAccounts
import AppleIdentity
import Commits
public import Cryptography
import Encodings

/// Web sign-in for backends that do not implement Sign in with Apple themselves. Redirects the browser to
/// Apple, receives Apple's form, and sends the app's page a one-time code, which its backend exchanges for
/// the result.
///
/// The browser posts Apple's form from Apple's site, so it does not send a cookie that is protected against
/// forgery (`SameSite=Lax`). The return therefore has two steps. First the callback verifies and registers
/// the sign-in, and redirects the browser to `finish`. There the browser sends the cookie, which is compared
/// with the sealed state. If an attacker redirects a browser here with another user's sign-in (login CSRF),
/// the browser gets no session and no code.
///
/// The browser carries the sealed state between the steps. Nothing is stored until Apple's signature has been
/// verified, so public requests cannot fill the database.
public struct WebSignIn: Sendable {
    /// Maximum time in milliseconds from the start to Apple's response, and also the cookie's lifetime.
    static let longestVisit: Int64 = 600_000
    /// Maximum time in milliseconds from Apple's response to the backend's request.
    static let codeLifetime: Int64 = 120_000
    /// Number of reads, ten per second, while waiting for the result of a form's first post. A browser may
    /// post the form again while the first post is still in progress.
    private static let repeatedLooks = 20
    /// Maximum difference between two replicas' clocks in milliseconds.
    private static let clockDifference: Int64 = 300_000

    public let settings: Settings
    let useCases: SignInUseCases
    private let seal: WebSeal
    /// The store for the web flow's one-time secrets.
    public let tickets: any TicketStore
    private let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - sealingKeys: The keys for sealed values. All replicas need the same keys, because any replica may
    ///     receive the next step.
    ///   - now: Returns the wall-clock time.
    public init(
        settings: Settings, useCases: SignInUseCases, sealingKeys: SealingKeyRing,
        tickets: any TicketStore, now: @escaping @Sendable () -> Moment
    ) {
        self.settings = settings
        self.useCases = useCases
        seal = WebSeal(keys: sealingKeys)
        self.tickets = tickets
        self.now = now
    }

    /// Starts a web sign-in. Returns the URL to redirect the browser to, and the secret for its cookie.
    ///
    /// - Parameters:
    ///   - clientID: The client ID. It is optional if only one client ID has a redirect URL.
    ///   - callerState: The caller's state from the query, still percent-encoded. The app's page receives it
    ///     byte for byte.
    ///   - cookie: The cookie that the browser sent. A valid secret is reused, so that two tabs can sign in
    ///     at the same time.
    /// - Throws: `UnknownClientID`.
    public func begin(
        clientID: String?, callerState: String?, scope: WebScope, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        begin(
            try settings.clientID(named: clientID), scope: scope, cookie: cookie,
            destination: .appPage(state: callerState))
    }

    func begin(
        _ clientID: ClientID, scope: WebScope, cookie: String?, destination: WebDestination
    ) -> WebAuthorizationRequest {
        let browser = cookie.flatMap { BrowserSecret($0) } ?? BrowserSecret()
        let state = WebState(
            nonce: WebState.makeNonce(), browserDigest: browser.digest, clientID: clientID,
            expiresAt: now().advanced(byMilliseconds: Self.longestVisit), destination: destination)
        var query = QueryText()
        query.append("client_id", clientID.rawValue)
        query.append("redirect_uri", settings.callbackURL)
        query.append("response_type", "code id_token")
        // Apple requires this response mode if a scope is requested.
        query.append("response_mode", "form_post")
        query.append("scope", scope.rawValue)
        query.append("state", seal.seal(state.json, for: .state))
        query.append("nonce", state.nonce)
        return WebAuthorizationRequest(location: query.appended(to: settings.authorizeURL), browser: browser)
    }

    /// Opens the `state` that Apple returned. Stores nothing, and does not consume the state.
    ///
    /// - Throws: `WebRefusal` with the codes `web_state_invalid` and `web_state_expired`.
    public func readState(_ state: String?) throws(WebRefusal) -> WebState {
        guard let state, let json = seal.open(state, for: .state), let webState = WebState(json: json) else {
            throw WebRefusal(.stateInvalid)
        }
        guard now() < webState.expiresAt else { throw WebRefusal(.stateExpired) }
        return webState
    }

    /// Verifies Apple's form, consumes the state, and registers the sign-in. Returns the URL at which the
    /// browser gets its code, or its session at the authorization endpoint.
    ///
    /// A browser that posts the same form again, after a double click or a reload, gets the result of the
    /// first post, because it has dropped the first response. No other browser can use this result
    /// (`finish`).
    ///
    /// - Parameter failure: Returns the failure that the app's page receives for an error; `nil` for an error
    ///   that the page does not receive. A repeated form gets the same failure.
    /// - Throws: `AppleTokenError`, `KeySetError`, `AccountRefusal`, `StorageError`, `OverloadedError`;
    ///   `WebRefusal` with the code `web_state_used`. Nothing is stored if the token is refused.
    public func handleCallback(
        _ webState: WebState, identityToken: String, authorizationCode: String, user: UserProfile?,
        failure: (any Error) -> WebFailure?
    ) async throws -> (url: String, isRepeated: Bool) {
        let token = IdentityTokenRequest(
            identityToken: identityToken, nonce: webState.nonce, clientID: webState.clientID.rawValue,
            authorizationCode: authorizationCode)
        let verified = try await useCases.verify(token, allowed: .all).value
        // In a browser, Apple returns the nonce unchanged. So a digest or a missing nonce is refused here,
        // although both are accepted from native clients.
        guard let nonce = verified.identity.nonce else { throw AppleTokenError(.nonceMissing) }
        guard ConstantTime.areEqual(Array(nonce.utf8), Array(webState.nonce.utf8)) else {
            throw AppleTokenError(.nonceMismatch)
        }
        let form = TicketDigest(.hash("\(webState.nonce)\n\(authorizationCode)\n\(identityToken)"))
        guard try await useUp(webState) else {
            return (try await firstEnd(of: form, webState), isRepeated: true)
        }
        let request = SignInRequest(token: token, redirectURI: settings.callbackURL, user: user)
        do {
            let end = try await register(verified, from: request, webState)
            try await keep(end, asEndOf: form)
            return (finishURL(end), isRepeated: false)
        } catch {
            if let failure = failure(error) {
                // If the database fails here too, a repeated form gets the error for a used state.
                try? await keep(ticket(.failure(failure), for: webState), asEndOf: form)
            }
            throw error
        }
    }

    /// Registers the sign-in, and stores its result under the code.
    private func register(
        _ verified: VerifiedSignIn, from request: SignInRequest, _ webState: WebState
    ) async throws -> WebTicket {
        let outcome = try await useCases.signIn(verified, from: request, allowed: .all).value
        if webState.destination.givesSession {
            return ticket(.authentication(authentication(outcome, verified, webState)), for: webState)
        }
        let code = WebCode()
        let end = ticket(.code(code.text), for: webState)
        _ = try await tickets.insertTicket(
            Ticket(
                digest: code.digest, purpose: .webResult, payload: WebResult(outcome).json,
                expiresAt: end.expiresAt))
        return end
    }

    /// Stores a form's result for a browser that posts the form again. The state contains the destination.
    private func keep(_ end: WebTicket, asEndOf form: TicketDigest) async throws {
        var end = end
        end.destination = .appPage(state: nil)
        _ = try await tickets.insertTicket(
            Ticket(
                digest: form, purpose: .webState, payload: Array(seal.seal(end.json, for: .end).utf8),
                expiresAt: end.expiresAt))
    }

    /// Returns the URL that resulted from the first post of the same form. Waits while the first post is in
    /// progress, possibly at another replica.
    ///
    /// - Throws: `WebRefusal` with the code `web_state_used` for another form, and if the result has expired.
    private func firstEnd(of form: TicketDigest, _ webState: WebState) async throws -> String {
        for _ in 0..<Self.repeatedLooks {
            if let sealed = try await tickets.takeTicket(digest: form, purpose: .webState, at: now()) {
                guard let json = seal.open(String(decoding: sealed, as: UTF8.self), for: .end),
                    var end = WebTicket(json: json)
                else { break }
                // The result is stored again for a third post.
                try await keep(end, asEndOf: form)
                end.destination = webState.destination
                return finishURL(end)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw WebRefusal(.stateUsed)
    }

    /// Returns the URL at which the browser receives the failed sign-in's error.
    public func refusalURL(_ failure: WebFailure, for webState: WebState) -> String {
        finishURL(ticket(.failure(failure), for: webState))
    }

    /// Returns the browser's next destination, if this browser started the sign-in.
    ///
    /// - Throws: `WebRefusal` with the codes `web_ticket_invalid`, `web_ticket_expired` and
    ///   `web_browser_mismatch`.
    public func finish(ticket: String?, cookie: String?) throws(WebRefusal) -> WebArrival {
        guard let ticket, let json = seal.open(ticket, for: .ticket), let ticket = WebTicket(json: json),
            let redirectURL = settings.redirectURLs[ticket.clientID]
        else { throw WebRefusal(.ticketInvalid) }
        guard let cookie, let browser = BrowserSecret(cookie),
            ConstantTime.areEqual(browser.digest, ticket.browserDigest)
        else { throw WebRefusal(.browserMismatch) }
        guard now() < ticket.expiresAt else { throw WebRefusal(.ticketExpired) }
        switch (ticket.destination, ticket.outcome) {
        case (.appPage(let state), .code(let code)):
            var query = QueryText()
            query.append("code", code)
            return .appPage(query.appended(to: redirectURL, state: state))
        case (.appPage(let state), .failure(let failure)):
            var query = QueryText()
            query.append("error", failure.error)
            if let description = failure.description { query.append("error_description", description) }
            return .appPage(query.appended(to: redirectURL, state: state))
        case (.authorization(let query), .authentication(let authentication)):
            return .authorization(query: query, authentication)
        case (.authorization(let query), .failure(let failure)):
            return .refusedAuthorization(query: query, failure)
        case (.connections(let query), .authentication(let authentication)):
            return .connections(query: query, authentication)
        case (.connections(let query), .failure(let failure)):
            return .refusedConnections(query: query, failure)
        case (.device(let query), .authentication(let authentication)):
            return .device(query: query, authentication)
        case (.device(let query), .failure(let failure)):
            return .refusedDevice(query: query, failure)
        // This service never makes such a ticket, so the ticket counts as invalid.
        case (.appPage, .authentication), (.authorization, .code), (.connections, .code),
            (.device, .code):
            throw WebRefusal(.ticketInvalid)
        }
    }

    /// Returns the query that a state or ticket contains: the authorization request's query, or the query for
    /// another of this service's pages. Accepts expired values and another browser's values, because the
    /// query determines only the error page's language.
    public func authorizationQuery(state: String? = nil, ticket: String? = nil) -> String? {
        let destination: WebDestination?
        if let state {
            destination = seal.open(state, for: .state).flatMap { WebState(json: $0)?.destination }
        } else {
            destination = ticket.flatMap { seal.open($0, for: .ticket) }.flatMap {
                WebTicket(json: $0)?.destination
            }
        }
        switch destination {
        case .authorization(let query), .connections(let query), .device(let query): return query
        case .appPage, nil: return nil
        }
    }

    /// Returns the outcome of the sign-in with this code, and its account's current state. A code is valid
    /// once.
    ///
    /// - Throws: `WebRefusal` with the code `web_code_invalid`; `CallerForbidden`; `AccountRefusal` with the
    ///   codes `account_not_found` and `account_disabled`; `StorageError`. The code is consumed even if the
    ///   caller has no access to the app, because it has then leaked.
    public func redeem(code: String, allowed: AppScope) async throws -> SignInOutcome {
        guard let code = WebCode(code),
            let payload = try await tickets.takeTicket(digest: code.digest, purpose: .webResult, at: now()),
            let result = WebResult(json: payload)
        else { throw WebRefusal(.codeInvalid) }
        return try await useCases.outcome(of: result, allowed: allowed)
    }

    private func authentication(
        _ outcome: SignInOutcome, _ verified: VerifiedSignIn, _ webState: WebState
    ) -> WebAuthentication {
        WebAuthentication(
            accountID: outcome.account.id, clientID: outcome.credential.clientID,
            authenticatedAt: Moment(seconds: verified.identity.authorizationMoment.secondsSince1970),
            begunAt: webState.begunAt, signedInAt: now())
    }

    /// Consumes the state. Returns `false` if it was already used. The use is stored for longer than the
    /// state is valid, because the replicas' clocks differ.
    private func useUp(_ webState: WebState) async throws -> Bool {
        try await tickets.insertTicket(
            Ticket(
                digest: TicketDigest(.hash(webState.nonce)), purpose: .webState, payload: [],
                expiresAt: webState.expiresAt.advanced(byMilliseconds: Self.clockDifference)))
    }

    private func ticket(_ outcome: WebTicket.Outcome, for webState: WebState) -> WebTicket {
        WebTicket(
            browserDigest: webState.browserDigest, clientID: webState.clientID,
            expiresAt: now().advanced(byMilliseconds: Self.codeLifetime), destination: webState.destination,
            outcome: outcome)
    }

    private func finishURL(_ ticket: WebTicket) -> String {
        var query = QueryText()
        query.append("ticket", seal.seal(ticket.json, for: .ticket))
        return query.appended(to: settings.finishURL)
    }
}
