public import AppleAccounts
public import AuthorizationServer
public import Commits
import Encodings
public import SignIn
import Synchronization

/// The page where a user enters a device's code, signs in, and grants or refuses access (RFC 8628 §3.3).
///
/// The user signs in with Apple as on the consent page, and both pages share the session. The query contains
/// the code, as in `verification_uri_complete`. A wrong code costs one lookup, and `UserCodeGuessing` bounds
/// the number of wrong codes.
public struct DevicePageUseCase: Sendable {
    public static let path = "/oauth/device"

    public let authorize: AuthorizeUseCase
    let server: OAuthServer

    /// - Parameter authorize: Provides the browser sessions and the sign-in.
    public init(_ server: OAuthServer, authorize: AuthorizeUseCase) {
        (self.server, self.authorize) = (server, authorize)
    }

    /// Handles `GET /oauth/device`.
    ///
    /// - Parameters:
    ///   - query: The query as sent, which can be empty.
    ///   - address: The browser's address; `nil` if it is unknown. All unknown addresses count as one
    ///     address.
    /// - Throws: `StorageError` if a database operation fails.
    public func begin(
        _ query: String, from browser: AuthorizeBrowser, at address: RequesterAddress?
    ) -> Step<DevicePageOutcome> {
        let query = self.query(query)
        if let userAgent = browser.userAgent, EmbeddedWebView.isOne(userAgent: userAgent) {
            return .now(DevicePageOutcome(.refusal(.embeddedBrowser), query))
        }
        guard query.entry != nil else { return .now(DevicePageOutcome(.enter(nil), query)) }
        guard let code = query.code else { return .now(DevicePageOutcome(.enter(.malformed), query)) }
        return .later {
            switch try await find(code, at: address, by: authorize.liveSession(of: browser)) {
            case .fault(let fault): DevicePageOutcome(.enter(fault), query)
            case .waiting(let waiting): try await page(waiting, query, browser)
            }
        }
    }

    /// Handles `POST /oauth/device` with the page's form.
    ///
    /// - Throws: `StorageError`, `OverloadedError`.
    public func response(
        _ query: String, with form: ConsentForm, from browser: AuthorizeBrowser,
        at address: RequesterAddress?
    ) -> Step<DevicePageOutcome> {
        let query = self.query(query)
        guard let code = query.code else { return .now(DevicePageOutcome(.enter(.malformed), query)) }
        guard let token = form.token, let decision = form.decision else {
            return .now(DevicePageOutcome(.refusal(.formRefused), query))
        }
        guard let session = authorize.sessions.open(browser.session),
            session.isGood(for: session.clientID, at: server.now())
        else { return .now(DevicePageOutcome(.refusal(.signInNeeded), query)) }
        return .later {
            guard try await !authorize.endedSessions.contains(session, at: server.now()) else {
                return DevicePageOutcome(.refusal(.signInNeeded), query, session: .end)
            }
            return switch try await find(code, at: address, by: session) {
            case .fault(let fault): DevicePageOutcome(.enter(fault), query)
            case .waiting(let waiting):
                try await decide(
                    waiting, decision, token: token, allowing: form.tickedScopes, query, session)
            }
        }
    }

    /// A waiting device and its client.
    struct WaitingDevice: Sendable {
        let device: DeviceAuthorization
        let client: OAuthClient
        let userCode: UserCode
        let scopes: ScopeSet

        /// The message for the form's token. An authorization request's query contains no line break, so a
        /// consent page's token is never valid here. A token for another device with the same code is not
        /// valid here either.
        var purpose: String {
            "\(DevicePageUseCase.path)\n\(Hexadecimal.encode(device.digest))\n\(client.id.rawValue)\n\(scopes.text)"
        }
    }

    private enum Found {
        case waiting(WaitingDevice)
        case fault(DevicePageOutcome.EntryFault)
    }

    /// Finds the device with a user code. Each attempt counts as wrong until it finds a device.
    private func find(
        _ code: UserCode, at address: RequesterAddress?, by session: BrowserSession?
    ) async throws -> Found {
        let now = server.now()
        let attempt: UserCodeGuessing.Attempt
        switch server.userCodeGuessing.withLock({ $0.begin(at: address, by: session?.accountID, now: now) }) {
        case .paused(let seconds): return .fault(.paused(seconds))
        case .admitted(let admitted): attempt = admitted
        }
        let device: DeviceAuthorization?
        do {
            device = try await authorize.store.device(withUserCode: code.digest)
        } catch {
            server.userCodeGuessing.withLock { $0.takeBack(attempt) }
            throw error
        }
        guard let device else { return .fault(.unknown) }
        server.userCodeGuessing.withLock { $0.takeBack(attempt) }
        // The configuration may have changed since the device made its request.
        guard device.isWaiting(at: now), let client = authorize.settings.clients[device.oauthClientID],
            client.mayUse(.deviceCode),
            let scopes = client.remainingScope(of: device.scope).flatMap({ ScopeSet(parsing: $0) })
        else { return .fault(.over) }
        return .waiting(WaitingDevice(device: device, client: client, userCode: code, scopes: scopes))
    }

    private func page(
        _ waiting: WaitingDevice, _ query: DeviceQuery, _ browser: AuthorizeBrowser
    ) async throws -> DevicePageOutcome {
        let (client, now) = (waiting.client, server.now())
        guard let session = authorize.sessions.open(browser.session),
            session.isGood(for: client.app, at: now),
            // If the session has ended, the user has signed out, so this cookie is a copy and does not count.
            try await !authorize.endedSessions.contains(session, at: now)
        else { return signIn(to: client, query, browser) }
        let roundTrip = session.roundTrip.flatMap { $0.isFor(Self.address(of: query)) ? $0 : nil }
        let isRecent =
            AuthenticationAge(longest: client.maxAuthenticationAge).accepts(session.authenticatedAt, at: now)
            || roundTrip.map { session.isAuthenticated(since: $0.begunAt) } ?? false
        guard roundTrip != nil || !query.asksForAccount else { return signIn(to: client, query, browser) }
        let status = try await authorize.store.status(of: session.accountID, app: client.app)
        if let status, status.isDisabled(at: now) {
            return DevicePageOutcome(.disabled, query, session: .end, client: client)
        }
        guard isRecent, let status, status.isAuthorized,
            // A revocation or a sign-out has ended all earlier sessions, even if the user has signed in
            // since.
            status.admits(authenticatedAt: session.authenticatedAt)
        else {
            // The browser has already been at Apple for this page, so another round trip would have the same
            // result.
            return roundTrip == nil
                ? signIn(to: client, query, browser)
                : DevicePageOutcome(.refusal(.signInNeeded), query, session: .end, client: client)
        }
        let prompt = DevicePrompt(
            client: client, appName: authorize.appName(of: client.app), account: status.account,
            scopes: authorize.settings.scopes.declarations(of: waiting.scopes), userCode: waiting.userCode,
            origin: waiting.device.origin,
            minutesAgo: max(0, (now.milliseconds - waiting.device.issuedAt.milliseconds) / 60_000),
            formToken: FormToken.make(for: waiting.purpose, in: session))
        return DevicePageOutcome(.ask(prompt), query, client: client)
    }

    private func signIn(
        to client: OAuthClient, _ query: DeviceQuery, _ browser: AuthorizeBrowser
    ) -> DevicePageOutcome {
        if query.isEntered, let code = query.code {
            return DevicePageOutcome(.goOn(code, Self.address(of: query)), query, client: client)
        }
        do throws(UnknownClientID) {
            let request = try authorize.web.begin(
                deviceOf: client.app, query: query.text, cookie: browser.webSignIn)
            return DevicePageOutcome(.signIn(request), query, client: client)
        } catch {
            // The check at start-up prevents this configuration.
            return DevicePageOutcome(.refusal(.unavailable), query, client: client)
        }
    }

    func query(_ text: String) -> DeviceQuery { DeviceQuery(text, among: authorize.settings.languages) }

    static func address(of query: DeviceQuery) -> String {
        let text = query.text
        return text.isEmpty ? path : "\(path)?\(text)"
    }
}

/// The user's decision about a device, and the browser's return from Apple.
extension DevicePageUseCase {
    func decide(
        _ waiting: WaitingDevice, _ decision: ConsentForm.Decision, token: String,
        allowing tickedScopes: Set<String>, _ query: DeviceQuery, _ session: BrowserSession
    ) async throws -> DevicePageOutcome {
        let (client, now) = (waiting.client, server.now())
        guard session.isGood(for: client.app, at: now) else {
            return DevicePageOutcome(.refusal(.signInNeeded), query, client: client)
        }
        // The token is checked before the decision, because otherwise another site could refuse for the user.
        guard FormToken.isValid(token, for: waiting.purpose, in: session) else {
            return DevicePageOutcome(.refusal(.formRefused), query, client: client)
        }
        let scopes = ScopeSet(
            authorize.settings.scopes.declarations(of: waiting.scopes)
                .filter { !$0.isOptional || tickedScopes.contains($0.token.rawValue) }.map(\.token))
        let isAgreed = decision == .agree && !scopes.isEmpty
        let command = DecideDeviceCommand(
            deviceDigest: waiting.device.digest, oauthClientID: client.id,
            approval: isAgreed ? approval(of: scopes, client, session, at: now) : nil, moment: now)
        do {
            _ = try await authorize.commits.submit(command)
            return DevicePageOutcome(isAgreed ? .agreed(client) : .refused(client), query, client: client)
        } catch let refusal as GrantRefusal {
            return outcome(of: refusal.code, query, client)
        }
    }

    private func approval(
        of scopes: ScopeSet, _ client: OAuthClient, _ session: BrowserSession, at now: Moment
    ) -> DecideDeviceCommand.Approval {
        var generator = SystemRandomNumberGenerator()
        return DecideDeviceCommand.Approval(
            accountID: session.accountID, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            clientID: client.app, scope: scopes.text, authenticatedAt: session.authenticatedAt,
            authenticatedAfter: AuthenticationAge(longest: client.maxAuthenticationAge).earliest(at: now))
    }

    private func outcome(
        of refusal: GrantRefusal.Code, _ query: DeviceQuery, _ client: OAuthClient
    ) -> DevicePageOutcome {
        switch refusal {
        case .accountDisabled: DevicePageOutcome(.disabled, query, session: .end, client: client)
        case .tooManyGrants: DevicePageOutcome(.refusal(.unavailable), query, client: client)
        // The user has decided in another tab, or the code has expired.
        case .deviceCodeNotFound, .deviceCodeExpired, .deviceDenied:
            DevicePageOutcome(.enter(.over), query, client: client)
        // The credential ended while the page was open. A new sign-in can authorize it again.
        case .accountNotFound, .accountErased, .credentialRevoked, .appleAccountDeleted,
            .authenticationTooOld, .codeNotFound, .codeExpired, .codeOfAnotherClient, .redirectURIMismatch,
            .codeVerifierMismatch, .codeRetried, .codeReused, .refreshTokenNotFound, .refreshTokenForged,
            .refreshTokenExpired, .refreshTokenOfAnotherClient, .refreshTokenReused, .scopeExceeded,
            .scopeWithdrawn, .grantNotFound, .googleAccountDisabled, .accountNotMatched, .devicePending,
            .devicePolledEarly, .tooManyDevices, .tooManyFamilies, .userCodeTaken:
            DevicePageOutcome(.refusal(.signInNeeded), query, session: .end, client: client)
        }
    }

    /// Starts the session of a browser whose user has signed in, and continues its request.
    ///
    /// - Parameter sessionCookie: The session cookie as the browser sent it.
    public func arrive(
        _ authentication: WebAuthentication, query: String, sessionCookie: String?
    ) -> DevicePageOutcome {
        let query = self.query(query)
        let address = Self.address(of: query)
        return DevicePageOutcome(
            .resume(address), query,
            session: authorize.beginSession(
                of: authentication, for: address, sessionCookie: sessionCookie))
    }

    /// Handles a failed sign-in at Apple. The device keeps waiting, because the user may retry.
    public func refuse(_ failure: WebFailure, query: String) -> DevicePageOutcome {
        let query = self.query(query)
        if failure.isOfDisabledAccount { return DevicePageOutcome(.disabled, query) }
        let isLater = failure.error == "temporarily_unavailable"
        return DevicePageOutcome(.refusal(isLater ? .unavailable : .signInNeeded), query)
    }
}

/// The outcome of a request to the device page.
public struct DevicePageOutcome: Sendable {
    public let action: Action
    public let query: DeviceQuery
    public let session: AuthorizeOutcome.SessionChange
    /// The device's client, if the code is correct.
    public var client: OAuthClient?

    public enum Action: Sendable {
        /// The page asks the user for the code.
        case enter(EntryFault?)
        /// The page asks the user for consent.
        case ask(DevicePrompt)
        /// A page that automatically continues to this address, which redirects to Apple's page.
        case goOn(UserCode, String)
        /// A 303 redirect to Apple's page.
        case signIn(WebAuthorizationRequest)
        /// A 303 redirect back to this page, after a sign-in.
        case resume(String)
        /// The user has agreed, and the device will get tokens with its next poll.
        case agreed(OAuthClient)
        /// The user has refused consent.
        case refused(OAuthClient)
        /// A page about the disabled account.
        case disabled
        /// An error page. The request changed nothing.
        case refusal(UserPageRefusal)
    }

    /// The reason that the page asks for the code again.
    public enum EntryFault: Sendable, Hashable {
        /// No device shows a code of this form.
        case malformed
        /// No device is waiting with this code.
        case unknown
        /// The device authorization has expired, or a user has already decided.
        case over
        /// The user entered too many wrong codes, and must wait for this many seconds.
        case paused(Int64)
    }

    init(
        _ action: Action, _ query: DeviceQuery, session: AuthorizeOutcome.SessionChange = .keep,
        client: OAuthClient? = nil
    ) {
        (self.action, self.query, self.session) = (action, query, session)
        self.client = client
    }
}

/// The contents of the page that asks a user to grant consent to a device.
public struct DevicePrompt: Sendable {
    public let client: OAuthClient
    public let appName: LocalizedText
    public let account: Account
    /// The scopes that the device requests, in the order of the request.
    public let scopes: [DeclaredScope]
    /// The user code, which the user compares with the code on the device.
    public let userCode: UserCode
    public let origin: DeviceAuthorization.Origin
    /// Minutes since the device's request, rounded down.
    public let minutesAgo: Int64
    public let formToken: String
}
