// HTTPAPI owns the HTTP API: routes, bodies, problems, API keys, the request log and the metrics. Other
// modules own the rules about tokens and accounts, and the configuration.

public import AppAttestation
public import AppleAccounts
import AuthorizationServer
import Commits
public import Encodings
public import EventDelivery
public import HTTPEngine
public import KeySets
public import Logging
public import OAuth
public import ServiceLifecycle
public import SignIn
public import TraceExport

/// Serves the HTTP API until graceful shutdown. On shutdown the service stops accepting connections, and
/// returns when every request in progress has received its response.
public final class HTTPService: Service {
    /// The values and services that the API depends on.
    public struct Dependencies: Sendable {
        public var useCases: SignInUseCases
        public var keys: any VerificationKeys
        public var store: any AccountStore
        public var callers: CallerDirectory
        public var registry: MetricsRegistry
        public var sink: LogSink
        public var version: String
        /// Returns the current time in milliseconds since 1970.
        public var now: @Sendable () -> Int64
        /// The web sign-in. If it is `nil`, requests to its routes get 404.
        public var web: WebSignIn?
        /// The authorization server. If it is `nil`, requests to its routes get 404.
        public var oauth: OAuthServer?
        /// Keys that sign events for receivers, for a service without OAuth clients.
        public var eventKeys: SigningKeys?
        /// The authorization endpoint. For a service without OAuth clients it is `nil`, and requests to it
        /// get 404.
        public var authorize: AuthorizeUseCase?
        /// Refuses requests from other sites' pages, in development. `nil` accepts every host name, which a
        /// service behind a proxy needs.
        public var foreignPages: ForeignPageCheck?
        /// Warnings that probes and metrics report together with readiness.
        public var warnings: ServiceWarnings
        /// This process's App Check counters, for the metrics.
        public var appCheck = AppCheck()
        /// The stored App Check counts. If they are `nil`, requests to their route get 404.
        public var appCheckHours: (any AppCheckHourStore)?
        /// Records each caller that reads many accounts at once. `nil` disables the recording.
        public var audit: (any AuditStore)?
        /// The receivers that poll for events, and the OAuth clients' event streams. `nil` if there are
        /// neither.
        public var eventStreams: EventStreams?
        /// Keeps refused notifications from Apple and refused events from Google, for operators. `nil` if
        /// there is no console.
        public var arrivals: ArrivalLog?
        /// Pages that `siwa dev` serves on the same port as the API. If it is `nil`, requests to their paths
        /// get 404.
        package var site: (any PageSite)?
        /// Records request spans. `nil` if tracing is off.
        public var spans: SpanRecorder?
        /// The log's sampling rate: one in this many successful requests is logged.
        public var logRate = 1
        /// The requests that the console shows. `nil` if there is no console.
        public var recent: RecentRequests?
        /// The callers that read the event feed. `nil` if the console does not show them.
        public var feedReaders: FeedReaders?
        /// The time of the last notification received by any replica. `nil` if the service knows only its own
        /// notifications.
        public var lastNotification: LastNotification?

        public init(
            useCases: SignInUseCases, keys: any VerificationKeys, store: any AccountStore,
            callers: CallerDirectory, registry: MetricsRegistry, sink: LogSink, version: String,
            now: @escaping @Sendable () -> Int64, web: WebSignIn? = nil,
            oauth: OAuthServer? = nil, authorize: AuthorizeUseCase? = nil,
            foreignPages: ForeignPageCheck? = nil, warnings: ServiceWarnings = ServiceWarnings()
        ) {
            self.useCases = useCases
            self.keys = keys
            self.store = store
            self.callers = callers
            self.registry = registry
            self.sink = sink
            self.version = version
            self.now = now
            self.web = web
            self.oauth = oauth
            self.authorize = authorize
            self.foreignPages = foreignPages
            self.warnings = warnings
        }
    }

    private let dispatcher: Dispatcher
    private let server: HTTPServer
    private let draining = Draining()

    /// - Parameters:
    ///   - port: The port to listen on. With 0 the system chooses a port, which `boundPort()` returns.
    ///   - logger: Its log level controls the request log, which needs `info` or below.
    public init(
        host: String, port: Int, limits: ServerLimits = ServerLimits(), dependencies: Dependencies,
        logger: Logger
    ) {
        let registry = dependencies.registry
        let verifications = VerificationMetrics(registry)
        _ = KeySetMetrics(registry, keys: dependencies.keys)
        _ = ProcessMetrics(registry)
        _ = WarningMetrics(registry, warnings: dependencies.warnings)
        _ = AppCheckMetrics(registry, counts: dependencies.appCheck.counts)
        registry.gauge(
            "siwa_build_info", [("version", dependencies.version)],
            help: "Always 1; its label is the version."
        ).set(1 as Int64)
        let useCases = dependencies.useCases
        let commits = useCases.commits
        let queueDepth = registry.gauge(
            "siwa_storage_queue_depth",
            help: "Commands that wait for the next transaction.")
        registry.beforeReading { queueDepth.set(Int64(commits.depth)) }
        let authorize = dependencies.authorize.map { AuthorizeRoutes(useCase: $0, registry: registry) }
        let connections = dependencies.oauth.flatMap { server in
            dependencies.authorize.map { authorize in
                ConnectionsRoutes(
                    useCase: ConnectionsUseCase(server, authorize: authorize), registry: registry)
            }
        }
        let logout = dependencies.oauth.flatMap { _ in
            dependencies.authorize.map {
                LogoutRoutes(useCase: LogoutUseCase(authorize: $0), registry: registry)
            }
        }
        let devicePages = dependencies.oauth.flatMap { server -> DevicePageRoutes? in
            guard GrantType.deviceCode.isOffered(to: server.dependencies.settings.clients.clients) else {
                return nil
            }
            return dependencies.authorize.map { authorize in
                DevicePageRoutes(
                    useCase: DevicePageUseCase(server, authorize: authorize), registry: registry)
            }
        }
        let polls = dependencies.eventStreams.map { _ in PollMetrics(registry) }
        let readers = dependencies.feedReaders ?? FeedReaders(feed: useCases.feed)
        _ = FeedReaderMetrics(
            registry, readers: readers, names: dependencies.callers.names, now: dependencies.now)
        let routes = Routes(
            tokens: TokenRoutes(useCases: useCases, verifications: verifications),
            accounts: AccountRoutes(
                useCases: useCases, audit: dependencies.audit,
                now: { [now = dependencies.now] in Moment(milliseconds: now()) }),
            accountChanges: AccountChangeRoutes(useCases: useCases, oauth: dependencies.oauth),
            credentials: CredentialRoutes(useCases: useCases),
            events: EventRoutes(
                useCases: useCases, registry: registry, readers: readers, now: dependencies.now),
            eventPolls: dependencies.eventStreams.flatMap { streams in
                guard streams.hasKeyedReceivers, let polls else { return nil }
                return EventPollRoutes(streams: streams, metrics: polls)
            },
            notifications: NotificationRoutes(
                useCases: useCases, verifications: verifications,
                receipts: NotificationMetrics(
                    registry,
                    last: dependencies.lastNotification
                        ?? LastNotification(Moment(milliseconds: dependencies.now())),
                    now: dependencies.now),
                arrivals: dependencies.arrivals),
            erasures: ErasureRoutes(useCases: useCases),
            appCheck: dependencies.appCheckHours.map {
                AppCheckRoutes(
                    deployment: useCases.deployment, policies: dependencies.appCheck.policies,
                    oauthClients: dependencies.oauth?.dependencies.settings.clients.clients ?? [],
                    store: $0, now: dependencies.now)
            },
            appAttest: useCases.appChecks.flatMap { checks in
                checks.policies.all.isEmpty ? nil : AppAttestRoutes(checks: checks)
            },
            web: dependencies.web.map {
                WebRoutes(
                    web: $0, verifications: verifications, registry: registry, authorize: authorize,
                    connections: connections, devicePages: devicePages,
                    languages: dependencies.authorize?.languages ?? .builtIn)
            },
            authorize: authorize, connections: connections, logout: logout, devicePages: devicePages,
            operations: OperationsRoutes(
                keys: dependencies.keys, store: dependencies.store, registry: registry,
                version: dependencies.version, warnings: dependencies.warnings, draining: draining),
            keySet: (dependencies.oauth?.dependencies.keys ?? dependencies.eventKeys).map {
                KeySetRoutes(keys: $0)
            },
            oauth: dependencies.oauth.map {
                OAuthRoutes(
                    server: $0, callers: dependencies.callers, registry: registry,
                    events: dependencies.eventStreams, polls: polls,
                    arrivals: dependencies.arrivals)
            }, languages: dependencies.authorize?.languages ?? .builtIn)
        let dispatcher = Dispatcher(
            routes: routes, callers: dependencies.callers, foreignPages: dependencies.foreignPages,
            observer: RequestObserver(
                registry: registry, callers: dependencies.callers.names,
                clients: (dependencies.oauth?.dependencies.settings.clients.clients).map(ClientLabels.init),
                sink: dependencies.sink, logger: logger, rate: dependencies.logRate,
                recent: dependencies.recent, now: dependencies.now),
            tracing: dependencies.spans.map { RequestTracing(recorder: $0) }, recent: dependencies.recent,
            noteRequester: dependencies.foreignPages == nil
                ? Self.requesterNotice(dependencies.warnings.requesters, now: dependencies.now, logger) : nil)
        self.dispatcher = dispatcher
        let notices = EarlyCloseNotices(registry: registry, logger: logger, now: dependencies.now)
        server = HTTPServer(
            host: host, port: port, limits: limits, logger: logger, now: dependencies.now,
            interface: { [site = dependencies.site] in
                LoopDispatcher(dispatcher, site: site, eventLoop: $0)
            },
            noteEarlyClose: { notices.count($0) })
    }

    private static func requesterNotice(
        _ requesters: RequesterWatch, now: @escaping @Sendable () -> Int64, _ logger: Logger
    ) -> @Sendable (ClientAddress?, _ looksProxied: Bool) -> Void {
        { client, looksProxied in
            guard let address = requesters.note(client, looksProxied: looksProxied, at: now()) else { return }
            logger.warning(
                "every request of an hour came from one private address: SIWA_TRUSTED_PROXIES does not name the proxy",
                metadata: ["address": "\(address)"])
        }
    }

    /// Returns the port that the service listens on. Throws if the service could not listen.
    public func boundPort() async throws -> Int {
        try await server.boundPort()
    }

    /// Makes `/readyz` respond with 503 `stopping`. The service still serves all requests.
    public func beginDraining() {
        draining.begin()
    }

    /// Runs the service. Throws `ListenError` if it cannot listen.
    public func run() async throws {
        defer { dispatcher.observer.finish() }
        try await server.run()
    }
}
