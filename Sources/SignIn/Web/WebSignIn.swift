public import AppleAccounts
import AppleIdentity
public import Cryptography

/// Sign in with Apple in a browser, for backends that have no Apple code of their own: leads the browser to Apple, takes
/// what Apple posts back, and hands the app's page a one-time code that its backend turns into the result.
///
/// Apple posts from its own site, so a cookie that is safe against forgery (`SameSite=Lax`) does not come along. The way
/// back is therefore in two steps: the callback verifies and registers, and sends the browser on to `finish`, where the
/// cookie does come, and where it is compared with what the sign-in began with. Whoever is led here in another
/// person's sign-in (login CSRF) gets nothing.
///
/// What has to be remembered between the steps travels sealed with the browser. Nothing is stored before Apple's
/// signature has been verified, so that public calls cannot fill the database.
public struct WebSignIn: Sendable {
    /// Milliseconds from the start to Apple's answer, also the life of the cookie.
    static let longestVisit: Int64 = 600_000
    /// Milliseconds from Apple's answer to the backend's question.
    static let codeLifetime: Int64 = 120_000
    /// Milliseconds that the clocks of two replicas may differ.
    private static let clockDifference: Int64 = 300_000

    public let settings: Settings
    private let useCases: SignInUseCases
    private let seal: WebSeal
    private let tickets: any TicketStore
    private let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - sealingKeys: The same in all replicas, because any of them may be asked next.
    ///   - now: The wall clock.
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

    /// Begins a visit: where to send the browser, and the secret that it is to keep in its cookie.
    ///
    /// - Parameters:
    ///   - clientID: May be left out where only one has a redirect URL.
    ///   - callerState: As it stood in the query, still percent-encoded; it is handed back byte for byte.
    ///   - cookie: What the browser brought. A secret of ours is kept, so that two tabs can be on their way at once.
    /// - Throws: `UnknownClientID`.
    public func begin(
        clientID: String?, callerState: String?, scope: WebScope, cookie: String?
    ) throws(UnknownClientID) -> WebAuthorizationRequest {
        let clientID = try settings.clientID(named: clientID)
        let browser = cookie.flatMap { BrowserSecret($0) } ?? BrowserSecret()
        let state = WebState(
            nonce: WebState.makeNonce(), browserDigest: browser.digest, clientID: clientID,
            expiresAt: now().advanced(byMilliseconds: Self.longestVisit), callerState: callerState)
        var query = QueryText()
        query.append("client_id", clientID.rawValue)
        query.append("redirect_uri", settings.callbackURL)
        query.append("response_type", "code id_token")
        // Apple insists on it as soon as a scope is asked for.
        query.append("response_mode", "form_post")
        query.append("scope", scope.rawValue)
        query.append("state", seal.seal(state.json, for: .state))
        query.append("nonce", state.nonce)
        return WebAuthorizationRequest(location: query.appended(to: settings.authorizeURL), browser: browser)
    }

    /// Reads the `state` that Apple brought back. Stores nothing, and does not yet use it up.
    ///
    /// - Throws: `WebRefusal` `web_state_invalid`, `web_state_expired`.
    public func readState(_ state: String?) throws(WebRefusal) -> WebState {
        guard let state, let json = seal.open(state, for: .state), let visit = WebState(json: json) else {
            throw WebRefusal(.stateInvalid)
        }
        guard now() < visit.expiresAt else { throw WebRefusal(.stateExpired) }
        return visit
    }

    /// Verifies what Apple posted, uses the state up, registers the sign-in, and returns where the browser gets its code.
    ///
    /// - Throws: `AppleTokenError`, `KeySetError`, `AccountRefusal`, `StorageError`, `OverloadedError`, and `WebRefusal`
    ///   `web_state_used`. Nothing is stored when the token is refused.
    public func handleCallback(
        _ visit: WebState, identityToken: String, authorizationCode: String, user: UserProfile?
    ) async throws -> String {
        let token = IdentityTokenRequest(
            identityToken: identityToken, nonce: visit.nonce, clientID: visit.clientID.rawValue,
            authorizationCode: authorizationCode)
        let verified = try await useCases.verify(token, allowed: .all).value
        // In a browser Apple hands the nonce through unchanged: neither its digest nor its absence will do, whatever
        // is accepted from native clients.
        guard let nonce = verified.identity.nonce else { throw AppleTokenError(.nonceMissing) }
        guard ConstantTime.areEqual(Array(nonce.utf8), Array(visit.nonce.utf8)) else {
            throw AppleTokenError(.nonceMismatch)
        }
        guard try await useUp(visit) else { throw WebRefusal(.stateUsed) }
        let pending = try useCases.pendingSignIn(
            verified, from: SignInRequest(token: token, redirectURI: settings.callbackURL, user: user),
            at: now(), allowed: .all)
        let outcome = try await useCases.commits.submit(pending)
        let code = WebCode()
        let expiresAt = now().advanced(byMilliseconds: Self.codeLifetime)
        let result = WebResult(outcome)
        _ = try await tickets.insertTicket(
            Ticket(digest: code.digest, purpose: .webResult, payload: result.json, expiresAt: expiresAt))
        return finishURL(.code(code.text), for: visit, expiresAt: expiresAt)
    }

    /// Where the browser is told that there was no sign-in.
    public func refusalURL(_ failure: WebFailure, for visit: WebState) -> String {
        finishURL(.failure(failure), for: visit, expiresAt: now().advanced(byMilliseconds: Self.codeLifetime))
    }

    /// The app's own address with the code or the error, for the browser that began and for no other.
    ///
    /// - Throws: `WebRefusal` `web_ticket_invalid`, `web_ticket_expired`, `web_browser_mismatch`.
    public func finish(ticket: String?, cookie: String?) throws(WebRefusal) -> String {
        guard let ticket, let json = seal.open(ticket, for: .ticket), let ticket = WebTicket(json: json),
            let redirectURL = settings.redirectURLs[ticket.clientID]
        else { throw WebRefusal(.ticketInvalid) }
        guard let cookie, let browser = BrowserSecret(cookie),
            ConstantTime.areEqual(browser.digest, ticket.browserDigest)
        else { throw WebRefusal(.browserMismatch) }
        guard now() < ticket.expiresAt else { throw WebRefusal(.ticketExpired) }
        var query = QueryText()
        switch ticket.answer {
        case .code(let code): query.append("code", code)
        case .failure(let failure):
            query.append("error", failure.error)
            if let description = failure.description { query.append("error_description", description) }
        }
        if let state = ticket.callerState { query.append("state", encoded: state) }
        return query.appended(to: redirectURL)
    }

    /// What a code stands for: the sign-in's outcome, with the account as it is now. A code works once.
    ///
    /// - Throws: `WebRefusal` `web_code_invalid`, `CallerForbidden`, `AccountRefusal` `account_not_found`,
    ///   `StorageError`. A caller who may not see the app has used the code up all the same: it had leaked.
    public func redeem(code: String, allowed: AppScope) async throws -> SignInOutcome {
        guard let code = WebCode(code),
            let payload = try await tickets.takeTicket(digest: code.digest, purpose: .webResult, at: now()),
            let result = WebResult(json: payload)
        else { throw WebRefusal(.codeInvalid) }
        return try await useCases.outcome(of: result, allowed: allowed)
    }

    /// False when the state has been used. It is remembered for longer than it would pass, because the clocks of two
    /// replicas differ.
    private func useUp(_ visit: WebState) async throws -> Bool {
        guard let digest = TicketDigest(SHA256Digest.hash(visit.nonce).bytes) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return try await tickets.insertTicket(
            Ticket(
                digest: digest, purpose: .webState, payload: [],
                expiresAt: visit.expiresAt.advanced(byMilliseconds: Self.clockDifference)))
    }

    private func finishURL(_ answer: WebTicket.Answer, for visit: WebState, expiresAt: Moment) -> String {
        let ticket = WebTicket(
            browserDigest: visit.browserDigest, clientID: visit.clientID, expiresAt: expiresAt,
            callerState: visit.callerState, answer: answer)
        var query = QueryText()
        query.append("ticket", seal.seal(ticket.json, for: .ticket))
        return query.appended(to: settings.finishURL)
    }
}
