import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Certificates
import Commits
import Cryptography
import Encodings
import EventDelivery
import HTTPAPI
import HTTPEngine
import KeySets
import Logging
import NIOCore
import OAuth
import OAuthSamples
import ServiceLifecycle
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint
import TraceExport

/// A whole service on a free port, over a store in memory and the mint's keys, with a stopped clock.
struct RunningService: Sendable {
    static let secret = "siwa_test_key_for_everything"
    static let limitedSecret = "siwa_test_key_for_the_second_app"
    static let team = "A1B2C3D4E5"
    static let secondClientID = "com.example.second"
    /// One minute after the sample tokens were signed.
    static let now = (TokenMint.sampleTime + 60) * 1000

    let port: Int
    let log: CapturedLog
    let sink: LogSink
    let store: any AccountStore
    let clock: ManualClock
    let stop: @Sendable () -> Void

    struct Options: Sendable {
        var limits = Self.limits
        var keys: (any VerificationKeys)?
        var store: (any AccountStore)?
        var callers: CallerDirectory?
        var logLevel = Logger.Level.info
        var now = RunningService.now
        /// Redirect URL of each web client; empty leaves the web relay out.
        var redirectURLs = ["com.example.web": "https://app.example/apple?from=siwa"]
        var publicURL = "https://siwa.test"
        /// The one-time secrets of web sign-ins; `nil` for those of the store.
        var tickets: (any TicketStore)?
        /// True if the first app takes nonces of the service alone.
        var requiresMintedNonce = false
        var canSeal = true
        /// Largest number of callers that wait for events at the same time.
        var mostWaiters = 1024
        var foreignPages: ForeignPageCheck?
        var warnings = ServiceWarnings()
        var appCheck = AppCheck()
        /// Root of attestations; `nil` for a service without App Attest.
        var attestationRoot: TrustAnchor?
        /// True for a service with the OAuth clients of `OAuthSample`. The mint plays Google.
        var hasOAuth = false
        var isDevelopment = false
        /// The languages of the authorization endpoint's pages.
        var languages = PageLanguages.builtIn
        /// Adds the authorization endpoint with the changed clients of `OAuthClients`; `nil` leaves the
        /// endpoint out.
        var oauth: (@Sendable (inout OAuthDraft) -> Void)?
        /// The receivers of events that poll, and the streams of clients.
        var events:
            (@Sendable (ReferenceStore, EventFeed, @escaping @Sendable () -> Moment) throws -> EventStreams)?
        var logFormat = LogFormat.text
        /// One of this many successful requests has a log line.
        var logRate = 1
        var spans: SpanRecorder?
        var recent: RecentRequests?
        /// Changes the clients of the token endpoint.
        var tokenClients: @Sendable (inout OAuthDraft) -> Void = { _ in }

        /// The limits of the service, without rejections for overload: a round takes many times as long in a
        /// test build, and many services of the tests share the event loops.
        private static var limits: ServerLimits {
            var limits = ServerLimits()
            limits.admission.target = .seconds(60)
            limits.admission.notificationTarget = .seconds(60)
            return limits
        }
    }

    /// The service of the running test, by the trait `service`.
    static var current: RunningService { TestScope.current }

    /// The store in memory, where the options name no other.
    var memory: ReferenceStore { get throws { try #require(store as? ReferenceStore) } }

    /// The account of a user of the sample tokens.
    func account(_ subject: String = TokenMint.subject) async throws -> Account? {
        let subject = try #require(AppleSubject(subject))
        return try await store.account(SubjectKey(team: try Self.id(Self.team), subject: subject))
    }

    /// The grants of the user of the sample tokens.
    func grants() async throws -> [GrantRecord] {
        guard let account = try await account() else { return [] }
        return try await memory.grants(of: account.id)
    }

    static func with<Result: Sendable>(
        _ options: Options = Options(), _ body: @Sendable (RunningService) async throws -> Result
    ) async throws -> Result {
        let log = CapturedLog()
        let sink = LogSink(format: options.logFormat) { log.append($0) }
        let store = options.store ?? ReferenceStore()
        let keys = try options.keys ?? PinnedKeySet(parsing: TokenMint.shared.keySet)
        let feed = EventFeed(mostWaiters: options.mostWaiters)
        let commits = GroupCommit<AccountCommand>(store: store, feed: feed, tracer: options.spans)
        let clock = ManualClock(millisecondsSince1970: options.now)
        let now: @Sendable () -> Moment = { Moment(milliseconds: clock.millisecondsSince1970) }
        var logger = Logger(label: "test") { label in
            LineLogHandler(
                label: label, level: options.logLevel, sink: sink, now: { clock.millisecondsSince1970 })
        }
        logger.logLevel = options.logLevel
        let registry = MetricsRegistry()
        let useCases = SignInUseCases(
            deployment: try deployment(requiresMintedNonce: options.requiresMintedNonce),
            policy: VerificationPolicy(clientIDs: []), keys: keys, store: store, commits: commits, feed: feed,
            tokenContext: try tokenContext(options, store), nonceKey: .sample(),
            appChecks: try options.attestationRoot.map { root in
                AppChecks(
                    options.appCheck, root: root, deployment: try deployment(),
                    store: store as? any AppAttestStore ?? ReferenceStore(), commits: commits,
                    nonceKey: .sample(), now: now)
            },
            onDropped: DroppedValueNotice(
                registry: registry, logger: logger, now: { clock.millisecondsSince1970 }
            ).count, now: now)
        let web = try web(options, useCases, options.tickets ?? store as? any TicketStore, now)
        var dependencies = HTTPService.Dependencies(
            useCases: useCases, keys: keys, store: store, callers: try options.callers ?? callers(),
            registry: registry, sink: sink, version: "0.0.1-test", now: { clock.millisecondsSince1970 },
            web: web, oauth: options.hasOAuth ? try oauth(options, useCases, store, feed, keys, now) : nil,
            authorize: try authorize(options, web, store as? any AuthorizationStore, feed, now),
            foreignPages: options.foreignPages, warnings: options.warnings)
        if let events = options.events, let store = store as? ReferenceStore {
            dependencies.eventStreams = try events(store, feed, now)
        }
        dependencies.appCheck = options.appCheck
        (dependencies.spans, dependencies.logRate) = (options.spans, options.logRate)
        dependencies.recent = options.recent
        dependencies.audit = store as? any AuditStore
        dependencies.appCheckHours = store as? any AppCheckHourStore ?? ReferenceStore()
        let service = HTTPService(
            host: "127.0.0.1", port: 0, limits: options.limits, dependencies: dependencies, logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let running = RunningService(
                port: try await service.boundPort(), log: log, sink: sink, store: store, clock: clock,
                stop: { Task { await group.triggerGracefulShutdown() } })
            let result = try await body(running)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            sink.flush()
            try KeptLogs.keep(log.text)
            return result
        }
    }

    /// The context without workers: the tests play Apple's role themselves, on the store.
    private static func tokenContext(_ options: Options, _ store: any AccountStore) throws
        -> AppleTokenContext
    {
        AppleTokenContext(
            tokens: store as? any AppleTokenStore ?? ReferenceStore(),
            sealingKeys: options.canSeal ? try ring() : nil, canSign: { _ in true }, clock: HurriedClock())
    }

    private static func oauth(
        _ options: Options, _ useCases: SignInUseCases, _ store: any AccountStore, _ feed: EventFeed,
        _ keys: any VerificationKeys, _ now: @escaping @Sendable () -> Moment
    ) throws -> OAuthServer {
        let store = store as? ReferenceStore ?? ReferenceStore()
        let settings = try OAuthSample.settings(
            in: deployment(), app: TokenMint.clientID, isDevelopment: options.isDevelopment,
            appCheck: options.appCheck.policies, options.tokenClients)
        return OAuthServer(
            OAuthDependencies(
                settings: settings, deployment: try deployment(), store: store,
                commits: GroupCommit<GrantCommand>(store: store, feed: feed), signIn: useCases,
                keys: SigningKeys(
                    for: settings, store: store, sealingKeys: try ring(), makePEM: TokenMint.serviceKeys(),
                    now: now,
                    logger: .silent),
                googleKeys: keys, googleEventKeys: keys, now: now))
    }

    static func ring() throws -> SealingKeyRing {
        guard let key = SealingKey(name: "test", bytes: Array(repeating: 7, count: 32)),
            let ring = SealingKeyRing([key])
        else { throw NoName() }
        return ring
    }

    private static func web(
        _ options: Options, _ useCases: SignInUseCases, _ tickets: (any TicketStore)?,
        _ now: @escaping @Sendable () -> Moment
    ) throws -> WebSignIn? {
        guard !options.redirectURLs.isEmpty else { return nil }
        let redirectURLs = try options.redirectURLs.map { (try id($0.key) as ClientID, $0.value) }
        return WebSignIn(
            settings: try WebSignIn.Settings(
                publicURL: options.publicURL, redirectURLs: Dictionary(uniqueKeysWithValues: redirectURLs),
                authorizeURL: "https://appleid.apple.com/auth/authorize",
                allowsPlainHTTP: options.publicURL.hasPrefix("http:")),
            useCases: useCases, sealingKeys: try ring(), tickets: tickets ?? ReferenceStore(), now: now)
    }

    private static func authorize(
        _ options: Options, _ web: WebSignIn?, _ store: (any AuthorizationStore)?, _ feed: EventFeed,
        _ now: @escaping @Sendable () -> Moment
    ) throws -> AuthorizeUseCase? {
        guard let change = options.oauth, let web else { return nil }
        let store = store ?? ReferenceStore()
        let settings = try OAuthClients.settings(
            in: deployment(), issuer: options.publicURL, languages: options.languages, change)
        return AuthorizeUseCase(
            settings: settings, store: store, commits: GroupCommit<GrantCommand>(store: store, feed: feed),
            keys: SigningKeys(
                for: settings, store: store, sealingKeys: try ring(), makePEM: TokenMint.serviceKeys(),
                now: now,
                logger: .silent),
            web: web, sealingKeys: try ring(), now: now)
    }

    static func deployment(requiresMintedNonce: Bool = false) throws -> Deployment {
        try Deployment(apps: [
            App(
                team: id(team), primaryClientID: id(TokenMint.clientID),
                otherClientIDs: [id("com.example.web")], requiresMintedNonce: requiresMintedNonce),
            App(team: id(team), primaryClientID: id(secondClientID)),
        ])
    }

    private static func callers() throws -> CallerDirectory {
        CallerDirectory(keys: [
            APIKey(name: "backend", hash: APIKeySecret.hash(secret), scope: .all),
            APIKey(
                name: "second", hash: APIKeySecret.hash(limitedSecret), scope: .only([try id(secondClientID)])
            ),
        ])
    }

    struct NoName: Error {}

    static func id(_ text: String) throws -> ClientID {
        guard let id = ClientID(text) else { throw NoName() }
        return id
    }

    static func id(_ text: String) throws -> TeamID {
        guard let id = TeamID(text) else { throw NoName() }
        return id
    }

    // One request on a connection of its own

    func call(
        _ method: String, _ target: String, body: String? = nil, secret: String? = RunningService.secret,
        fields: [String: String] = [:]
    ) async throws -> ProbeResponse {
        let request = Self.request(method, target, body: body, secret: secret, fields: fields)
        return try await ProbeConnection.with(port: port) { connection in
            try await connection.send(request)
            return try await connection.response(toHead: method == "HEAD")
        }
    }

    func get(
        _ target: String, secret: String? = RunningService.secret, fields: [String: String] = [:]
    ) async throws -> ProbeResponse { try await call("GET", target, secret: secret, fields: fields) }

    func post(
        _ target: String, body: String? = nil, secret: String? = RunningService.secret,
        fields: [String: String] = [:]
    ) async throws -> ProbeResponse {
        try await call("POST", target, body: body, secret: secret, fields: fields)
    }

    /// Signs in with a sample token.
    func signIn(_ change: (inout JSONObject) -> Void = { _ in }) async throws -> ProbeResponse {
        try await post("/v1/sign-ins", body: try Bodies.identityToken([], change))
    }

    static func request(
        _ method: String, _ target: String, body: String? = nil, secret: String? = RunningService.secret,
        fields: [String: String] = [:]
    ) -> String {
        var all = ["Host": "siwa.test"]
        if let secret { all["Authorization"] = "Bearer \(secret)" }
        if let body {
            all["Content-Type"] = "application/json"
            all["Content-Length"] = String(body.utf8.count)
        }
        all.merge(fields) { $1 }
        let lines = all.map { "\($0.key): \($0.value)\r\n" }.joined()
        return "\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")"
    }

    /// Lines of single requests so far.
    var requestLines: [Substring] {
        loggedText().split(separator: "\n").filter { $0.contains("msg=request ") }
    }

    /// The log so far.
    func loggedText() -> String {
        sink.flush()
        return log.text
    }
}

extension RunningService.Options {
    /// The authorization endpoint alone.
    static let authorize = Self(oauth: { _ in })
    /// All endpoints of OAuth.
    static let oauth = Self(hasOAuth: true, oauth: { _ in })
}

extension Trait where Self == TestScope<RunningService> {
    /// A service during each test, as `RunningService.current`.
    static func service(
        _ options: RunningService.Options = .init(),
        _ change: @escaping @Sendable (inout RunningService.Options) throws -> Void = { _ in }
    ) -> Self {
        Self { body in
            var options = options
            try change(&options)
            try await RunningService.with(options, body)
        }
    }
}
