import AppAttestation
import AppleAccounts
import AppleIDClient
import AppleIdentity
import AuthorizationServer
import Commits
import Cryptography
import Foundation
import HTTPAPI
package import HTTPEngine
package import KeySets
import Logging
import ServiceLifecycle
import SignIn
import TraceExport
package import UnixSignals

/// The whole service, composed from its settings.
///
/// The initializer opens and migrates the database, and restores the stored key set, so that a service that
/// restarts during an Apple outage is ready immediately. Fetching keys begins with `run()`.
package struct ComposedService {
    let keys: any VerificationKeys
    /// Event delivery; `nil` if there are no receivers.
    package let deliveries: ComposedDeliveries?
    private let http: HTTPService
    private let group: ServiceGroup
    private let disabled: DisabledFeatures?
    /// Logs each client's App Check mode; `nil` in `siwa dev`, whose pages show the clients.
    private let appCheckClients: AppCheckClientsCheck?
    private let sealedWarning: String?
    private let warnings: StartWarnings
    private let logger: Logger

    /// - Parameters:
    ///   - signals: The signals that start the shutdown.
    ///   - development: The additions that `siwa dev` makes to the console.
    /// - Throws: `StorageError`, `WebSettingsError`.
    package init(
        settings: ServiceSettings, observation: ProcessObservation,
        signals: [UnixSignal] = [.sigterm, .sigint],
        keySetBounds: KeySetBounds = KeySetBounds(), healthInterval: Duration = HealthMonitor.interval,
        admission: AdmissionBounds = AdmissionBounds(), development: DevelopmentConsole? = nil
    ) async throws {
        logger = observation.logger
        disabled = DisabledFeatures(settings)
        appCheckClients = development == nil ? AppCheckClientsCheck(settings: settings) : nil
        warnings = StartWarnings(settings)
        let limits = ServerLimits.forThisProcess(settings, admission: admission)
        let database = try await Self.openDatabase(settings, limits, logger)
        let store: any ServiceStore = database.accounts
        let sealedSample = { @Sendable in try await Self.sealedSample(in: store, settings) }
        let firstSample = try await sealedSample()
        sealedWarning = firstSample.warning
        let apple = await AppleConnection(
            settings: settings, snapshots: database.keySetSnapshots, bounds: keySetBounds)
        keys = apple.keys
        let warnings = ServiceWarnings(clockAhead: { [clock = apple.clock] in clock.secondsAhead })
        // Sets the warning before the first probe gets a response.
        warnings.note(firstSample)
        let tokenContext = AppleTokenContext(
            tokens: store, sealingKeys: settings.sealingKeys,
            canSign: { settings.signingKeys[$0] != nil })
        let feed = EventFeed()
        let commits = GroupCommit<AccountCommand>(
            store: store, feed: feed, delay: EventLoopDelay.commits, tracer: observation.spans)
        let now = { @Sendable in Moment(milliseconds: ProcessObservation.millisecondsSince1970()) }
        let appCheck = AppCheck(settings.appCheck)
        let nonceKey = try await Self.nonceKey(in: store)
        // Logs the configuration before the first request, so that the log shows which configuration was
        // active for each action.
        let fingerprints = settings.fingerprints
        let changes = try await store.noteConfiguration(fingerprints, at: now())
        // At the first start, all parts are new, so there are no changes to log.
        if !changes.isEmpty,
            changes.count < fingerprints.count || changes.contains(where: { $0.before != nil })
        {
            logger.notice(
                "the configuration has changed since the last start", metadata: ["parts": "\(changes.count)"])
        }
        // If no notification has ever arrived, the age counts from the deployment's first start, so that a
        // restart does not hide missing notifications.
        let firstStart = try await store.configurationParts().map(\.firstSeenAt).min()
        let lastNotification = LastNotification(
            try await store.lastNotification() ?? firstStart ?? now())
        let receipts = settings.exchangedReceipts
        let appChecks = AppChecks(
            appCheck, root: settings.appAttestRoots.attestation,
            receipts: receipts, deployment: settings.deployment, store: store,
            commits: commits, nonceKey: nonceKey, now: now)
        let useCases = SignInUseCases(
            deployment: settings.deployment,
            policy: VerificationPolicy(issuers: settings.issuers, clientIDs: []),
            keys: keys, store: store, commits: commits, feed: feed, tokenContext: tokenContext,
            nonceKey: nonceKey, appChecks: appChecks,
            onDropped: DroppedValueNotice(
                registry: observation.registry, logger: logger, now: ProcessObservation.millisecondsSince1970
            ).count,
            now: now)
        let web = try settings.webSignIn(useCases: useCases, tickets: store, now: now)
        let oauth = ComposedOAuth(
            settings: settings, store: store, signIn: useCases, web: web, feed: feed, client: apple.client,
            tracer: observation.spans, now: now, logger: logger)
        let deliveries = try await ComposedDeliveries(
            settings: settings, store: store, feed: feed, keys: oauth?.keys, client: apple.client, now: now,
            logger: logger)
        self.deliveries = deliveries
        var dependencies = HTTPService.Dependencies(
            useCases: useCases, keys: keys, store: store, callers: settings.callers,
            registry: observation.registry, sink: observation.sink, version: SiwaVersion.current,
            now: ProcessObservation.millisecondsSince1970, web: web, oauth: oauth?.server,
            authorize: oauth?.authorize, foreignPages: settings.foreignPages, warnings: warnings)
        dependencies.eventKeys = deliveries?.ownKeys
        dependencies.spans = observation.spans
        dependencies.logRate = settings.numbers[.logRate]
        dependencies.appCheck = appCheck
        dependencies.appCheckHours = store
        dependencies.audit = store
        dependencies.eventStreams = deliveries?.streams
        let feedReaders = FeedReaders(feed: feed)
        dependencies.feedReaders = feedReaders
        dependencies.lastNotification = lastNotification
        let overview = ComposedOverview(
            ComposedOverview.Parts(
                settings: settings, database: database, store: store, keys: keys, warnings: warnings,
                lastNotification: lastNotification, registry: observation.registry, now: now, logger: logger))
        let console = try ComposedConsole(
            ComposedConsole.Parts(
                settings: settings, store: store, useCases: useCases, keys: keys, oauth: oauth,
                deliveries: deliveries, feed: feed, observation: observation, now: now, logger: logger,
                development: development, readers: feedReaders, overview: overview))
        (dependencies.site, dependencies.recent) = (console.site, console.recent)
        dependencies.arrivals = console.arrivals
        http = HTTPService(
            host: settings.host, port: settings.numbers[.port],
            limits: limits, dependencies: dependencies, logger: logger)
        let workers = AppleTokenWorkers(
            tokenContext: tokenContext, commits: commits, apple: apple.tokens,
            check: TokenResponseCheck(verifier: useCases.identityVerifier, keys: keys),
            schedule: CheckSchedule(interval: .seconds(settings.numbers[.checkInterval])),
            checksPerSecond: Double(settings.numbers[.checksPerSecond]),
            now: now, logger: logger)
        let receiptRefresh = ReceiptRefresh(
            receipts: receipts, store: store,
            apple: settings.receiptClient(over: apple.client, clock: apple.clock), now: now, logger: logger)
        let maintenance = Maintenance(
            store: store, commits: commits, feed: feed,
            auditKeptFor: Int64(settings.numbers[.auditDays]) * 86_400_000, clock: ContinuousClock(),
            secondsAhead: { [clock = apple.clock] in clock.secondsAhead }, now: now, logger: logger)
        let drain = Duration.seconds(settings.numbers[.drainSeconds])
        // Services stop in reverse order: first the service stops accepting requests, then the workers finish
        // their calls, then accepted commands are committed, then all other services stop.
        var services: [any Service] = [
            observation.sink, DatabaseService(database: database),
            EventAnnouncements(database: database, feed: feed),
            HealthMonitor(
                settings: settings, keys: keys, store: store, warnings: warnings,
                firstSample: firstSample, sealedSample: sealedSample,
                gauges: DatabaseGauges(standbys: overview.standbys), interval: healthInterval, logger: logger),
            WorkMonitor(
                store: store, database: database, now: now, onSequence: { feed.advance(to: $0) },
                onNotification: { lastNotification.note($0) }),
        ]
        if let traces = settings.traces, let spans = observation.spans {
            services.insert(TraceService(traces, queue: spans.queue, logger: logger), at: 1)
        }
        services += apple.services
        services += [maintenance, commits, overview.numbers]
        if !appCheck.counts.targets.isEmpty {
            services.append(
                AppCheckRecorder(counts: appCheck.counts, store: store, now: now, logger: logger))
        }
        if receipts != nil { services.append(ClaimLoop(receiptRefresh)) }
        services += deliveries?.services ?? []
        services += oauth?.services ?? []
        services += [
            workers
        ]
        services += console.services
        services += [
            http, ShutdownNotice(logger: logger),
            DrainPeriod(http: http, duration: drain, logger: logger),
        ]
        // Without signals, the service runs inside another program, which handles the process's signals.
        if !signals.isEmpty {
            // Ignores other signals until the shutdown ends, so that they cannot interrupt it.
            services.insert(IgnoredSignals(logger: logger), at: 1)
            services += Self.serviceManagerNotices(http: http, logger: logger)
        }
        group = Self.group(services, signals: signals, drain: drain, logger: logger)
    }

    /// Opens the database. Until PostgreSQL is available, a waiting service responds to probes.
    private static func openDatabase(
        _ settings: ServiceSettings, _ limits: ServerLimits, _ logger: Logger
    ) async throws -> any ServiceDatabase {
        let waiting = WaitingService(
            host: settings.host, port: settings.numbers[.port], limits: limits,
            now: ProcessObservation.millisecondsSince1970)
        do {
            let database = try await settings.openDatabase(logger: logger) {
                // With port 0, the system would later choose a different port for the service.
                if settings.numbers[.port] != 0 { waiting.begin() }
            }
            await waiting.end()
            return database
        } catch {
            await waiting.end()
            throw error
        }
    }

    /// Tries to open a sample of the stored secrets with the configured keys.
    private static func sealedSample(
        in store: any ServiceStore, _ settings: ServiceSettings
    ) async throws -> SealedSample {
        let keys = settings.sealingKeys
        let rows = try await store.sealedSecrets(after: nil, limit: SealedSample.size)
        var sample = SealedSample(rows, keys: keys)
        // If the service signs no tokens, lost signing keys of removed clients do no harm.
        if let keys, settings.oauth != nil || settings.signsEvents {
            sample.add(try await store.signingKeys(), keys: keys)
        }
        return sample
    }

    private static func nonceKey(in store: any ServiceStore) async throws -> NonceKey {
        guard let newKey = NonceKey(SecureRandom.bytes(count: NonceKey.size)) else {
            preconditionFailure("SecureRandom returned the wrong number of bytes")
        }
        return try await store.nonceKey(offering: newKey)
    }

    /// Returns the service that notifies the service manager; empty if no service manager started the
    /// process.
    private static func serviceManagerNotices(http: HTTPService, logger: Logger) -> [any Service] {
        ServiceManager(environment: ProcessInfo.processInfo.environment)
            .map { [ServiceManagerNotices(manager: $0, http: http, logger: logger)] } ?? []
    }

    private static func group(
        _ services: [any Service], signals: [UnixSignal], drain: Duration, logger: Logger
    ) -> ServiceGroup {
        // When a service fails, the other services stop in the same order. If all were cancelled together,
        // they would make each other fail.
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: service, failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: signals, logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(40) + drain
        configuration.maximumCancellationDuration = .seconds(5)
        return ServiceGroup(configuration: configuration)
    }

    /// Runs until a signal arrives or `stop` is called.
    package func run() async throws {
        logger.notice("starting", metadata: ["version": "\(SiwaVersion.current)"])
        if let disabled { logger.notice("\(disabled.text)") }
        appCheckClients?.log(to: logger)
        for warning in warnings.texts { logger.warning("\(warning)") }
        if let sealedWarning { logger.warning("\(sealedWarning)") }
        try await group.run()
        logger.notice("stopped")
    }

    package func stop() async {
        await group.triggerGracefulShutdown()
    }

    package func boundPort() async throws -> Int { try await http.boundPort() }

    /// Waits until the service can verify tokens, for at most five seconds, or until the task is cancelled.
    package func waitForKeys() async {
        for _ in 0..<250 where !keys.health.isReady && !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// Logs that the shutdown has reached the connections. Comes after the HTTP service in the group, because
/// services stop in reverse order.
struct ShutdownNotice: Service {
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        logger.notice("stopping: no new connections; what was accepted is answered")
    }
}

/// Delays the shutdown. In the meantime, the service still serves requests, while `/readyz` responds with
/// 503, so that load balancers remove the process before its connections close.
///
/// The shutdown stops this service first.
struct DrainPeriod: Service {
    let http: HTTPService
    let duration: Duration
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        // If no delay is set, or if the service could not listen, the shutdown continues immediately.
        guard duration > .zero, (try? await http.boundPort()) != nil else { return }
        http.beginDraining()
        logger.notice(
            "draining: requests are served, and /readyz answers 503",
            metadata: ["seconds": "\(duration.components.seconds)"])
        try? await Task.sleep(for: duration)
    }
}
