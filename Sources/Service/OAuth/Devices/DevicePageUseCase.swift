import AppleAccounts
import AuthorizationServer
import Commits
import Encodings
public import SignIn
import Synchronization

/// The page on which users enter the code of a device, sign in, and agree or refuse (RFC 8628 §3.3).
///
/// The user signs in with Apple as for the consent page, with the same session. The code travels in the query,
/// as in `verification_uri_complete`. A wrong code costs one look-up, and `UserCodeGuessing` bounds these.
public struct DevicePageUseCase: Sendable {
    public static let path = "/oauth/device"

    public let authorize: AuthorizeUseCase
    let server: OAuthServer

    /// - Parameter authorize: Has the sessions of browsers and the sign-in.
    public init(_ server: OAuthServer, authorize: AuthorizeUseCase) {
        (self.server, self.authorize) = (server, authorize)
    }

    /// Handles `GET /oauth/device`.
    ///
    /// - Parameters:
    ///   - query: The query as sent. It may be empty.
    ///   - address: `nil` when it is unknown. All unknown addresses are slowed down as one.
    /// - Throws: `StorageError`.
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

    /// Handles `POST /oauth/device` with the form of the page.
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

    /// A device that waits, with its client.
    struct WaitingDevice: Sendable {
        let device: DeviceAuthorization
        let client: OAuthClient
        let userCode: UserCode
        let scopes: ScopeSet

        /// The message of the form's token. No query of an authorization request has a line break, so that no
        /// token of a consent page fits; nor does the token of another device with the same code.
        var purpose: String {
            "\(DevicePageUseCase.path)\n\(Hexadecimal.encode(device.digest))\n\(client.id.rawValue)\n\(scopes.text)"
        }
    }

    private enum Found {
        case waiting(WaitingDevice)
        case fault(DevicePageOutcome.EntryFault)
    }

    /// Looks the device of a user code up. Each attempt counts as wrong until the device is found.
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
        // The configuration may have changed since the request of the device.
        guard device.isWaiting(at: now), let client = authorize.settings.clients[device.oauthClientID],
            client.allowsDeviceGrant,
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
            // The user has signed out in this browser; the cookie is a copy.
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
            // A session from before a revocation or a sign-out ended with it, even if the user has signed in
            // since.
            status.admits(authenticatedAt: session.authenticatedAt)
        else {
            // The browser was at Apple for this page, and another round trip would end the same.
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
            // The configuration is checked at start-up.
            return DevicePageOutcome(.refusal(.unavailable), query, client: client)
        }
    }

    func query(_ text: String) -> DeviceQuery { DeviceQuery(text, among: authorize.settings.languages) }

    static func address(of query: DeviceQuery) -> String {
        let text = query.text
        return text.isEmpty ? path : "\(path)?\(text)"
    }
}
