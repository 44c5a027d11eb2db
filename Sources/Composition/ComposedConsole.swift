import AppleAccounts
import AppleIDClient
import Commits
package import Console
import EventDelivery
package import HTTPAPI
import HTTPEngine
import JOSE
import KeySets
import Logging
import OAuth
import ServiceLifecycle
import SignIn

/// The console: its pages, and the services that run them.
struct ComposedConsole {
    /// The dependencies of the console pages.
    struct Parts {
        let settings: ServiceSettings
        let store: any ServiceStore
        let useCases: SignInUseCases
        let keys: any VerificationKeys
        let oauth: ComposedOAuth?
        let deliveries: ComposedDeliveries?
        let feed: EventFeed
        let observation: ProcessObservation
        let now: @Sendable () -> Moment
        let logger: Logger
        /// The additions that `siwa dev` makes to the console; `nil` in other programs.
        let development: DevelopmentConsole?
        /// The readers of this process's event feed.
        let readers: FeedReaders
        let overview: ComposedOverview
        /// Receives a notification whenever data on a page changes.
        let live: LiveUpdates
        /// Records operators' actions.
        let audit: ConsoleAudit
        /// Provides the `siwa doctor` findings.
        let doctor: any DoctorFinding

        init(
            settings: ServiceSettings, store: any ServiceStore, useCases: SignInUseCases,
            keys: any VerificationKeys, oauth: ComposedOAuth?, deliveries: ComposedDeliveries?,
            feed: EventFeed, observation: ProcessObservation, now: @escaping @Sendable () -> Moment,
            logger: Logger, development: DevelopmentConsole?, readers: FeedReaders,
            overview: ComposedOverview
        ) {
            (self.settings, self.store, self.useCases, self.keys) = (settings, store, useCases, keys)
            (self.oauth, self.deliveries, self.feed) = (oauth, deliveries, feed)
            (self.observation, self.now, self.logger) = (observation, now, logger)
            (self.development, self.readers, self.overview) = (development, readers, overview)
            audit = { try await store.appendAudit([$0]) }
            let live = LiveUpdates()
            self.live = live
            doctor = RunningDoctor(now: now, changed: { live.changed() }) {
                await DoctorChecks(settings: settings) { now().milliseconds / 1000 }.run().findings
                    .map(DoctorFindings.Finding.init)
            }
        }
    }

    /// The requests that the console shows; `nil` if there is no console, so that no requests are kept.
    let recent: RecentRequests?
    /// The last refused messages from Apple and Google; `nil` if there is no console.
    let arrivals: ArrivalLog?
    /// The console pages on the API port, in `siwa dev`.
    let site: ConsoleSite?
    /// The overview's monitor, and in production the console's server. Empty if there is no console.
    let services: [any Service]

    init(_ parts: Parts) throws {
        let settings = parts.settings
        let isOff = parts.development == nil && settings.numbers[.consolePort] == 0
        guard !isOff else {
            (recent, arrivals, site, services) = (nil, nil, nil, [])
            return
        }
        parts.feed.whenAdvanced { [live = parts.live] in live.changed() }
        parts.overview.numbers.whenChanged { [live = parts.live] in live.changed() }
        let monitor = parts.overview.monitor { [live = parts.live] in live.changed() }
        // In production, pages do not reload for each request, because thousands of requests per second can
        // arrive.
        let recent =
            parts.development == nil
            ? RecentRequests(keepsExchanges: false)
            : RecentRequests(keepsExchanges: true) { [live = parts.live] in live.changed() }
        self.recent = recent
        parts.development?.observe(recent) { [live = parts.live] in live.changed() }
        let arrivals = ArrivalLog(now: parts.now, masksPersons: parts.development == nil)
        self.arrivals = arrivals
        let expiry = ArrivalExpiry(log: arrivals)
        let callers = settings.callers
        let site = ConsoleSite(
            pages: Self.pages(parts, recent, arrivals, monitor),
            visitors: parts.development == nil
                ? .operators(
                    { callers }, hosts: settings.consoleHosts, sealingKeys: settings.sealingKeys,
                    tickets: parts.store)
                : .developers(hosts: settings.developmentHosts),
            live: parts.live, audit: parts.audit, monitor: monitor, now: parts.now, logger: parts.logger)
        guard parts.development == nil else {
            (self.site, services) = (site, [monitor, expiry])
            return
        }
        self.site = nil
        services = [
            monitor, expiry,
            ConsoleServer(
                site, host: settings.consoleHost, port: settings.numbers[.consolePort],
                limits: .forThisProcess(settings, admission: AdmissionBounds()), logger: parts.logger,
                now: ProcessObservation.millisecondsSince1970),
        ]
    }

    /// Returns all console pages. Each line adds one group of pages.
    private static func pages(
        _ parts: Parts, _ recent: RecentRequests, _ arrivals: ArrivalLog, _ monitor: OverviewMonitor
    ) -> [ConsolePage] {
        let settings = parts.settings
        var pages: [ConsolePage] = parts.overview.pages(
            monitor, doctor: parts.doctor, card: parts.development?.card
        ).pages
        pages += RequestsPages(parts.settings, recent: recent, audit: parts.audit).pages
        pages +=
            PeoplePages(
                signIn: parts.useCases, oauth: parts.oauth?.server, audit: parts.audit,
                checks: CheckSchedule(interval: .seconds(settings.numbers[.checkInterval])),
                recent: parts.development == nil ? nil : recent
            ).pages
        pages +=
            SettingsPages(
                configuration: ShownConfiguration(
                    parts.settings, masksURLs: parts.development == nil),
                doctor: parts.doctor, inbox: parts.store
            ).pages
        if let development = parts.development {
            pages += development.pages
        }
        pages += AuditPages(reader: parts.store).pages
        pages += TokenPages(tokenInspector(parts)).pages
        pages +=
            ClientPages(
                server: parts.oauth?.server, store: parts.store, registry: parts.observation.registry,
                streams: parts.deliveries?.streams
            ).pages
        pages += events(parts, arrivals).pages
        return pages
    }
}

extension ComposedConsole {
    /// Returns the token inspector, which uses the running service's keys and database.
    static func tokenInspector(_ parts: Parts) -> TokenInspector {
        let settings = parts.settings
        let files = SigningKeyFiles(
            Dictionary(uniqueKeysWithValues: settings.signingKeys.map { ($0.key.rawValue, $0.value) }))
        return TokenInspector(
            deployment: settings.deployment, appleIssuers: settings.issuers, appleKeys: parts.keys,
            store: parts.store, roots: settings.appAttestRoots, oauth: parts.oauth?.server,
            eventIssuer: settings.eventIssuer, keys: parts.oauth?.keys ?? parts.deliveries?.ownKeys
        ) { team in
            let keys = files.keys(ofTeam: team.rawValue).compactMap { key in
                key.verificationKey.map { (key.keyID, $0) }
            }
            return Dictionary(keys, uniquingKeysWith: { first, _ in first })
        }
    }

    static func events(_ parts: Parts, _ arrivals: ArrivalLog) -> EventPages {
        let settings = parts.settings
        let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?
        let wake: @Sendable () -> Void
        if let deliveries = parts.deliveries {
            (lastFailure, wake) = (deliveries.lastFailure, deliveries.wake)
        } else {
            (lastFailure, wake) = ({ _ in nil }, {})
        }
        return EventPages(
            store: parts.store, arrivals: arrivals, readers: { [readers = parts.readers] in readers.all },
            receivers: receivers(settings), lastFailure: lastFailure, wake: wake,
            hasGoogle: settings.tellsGoogle)
    }

    private static func receivers(_ settings: ServiceSettings) -> [EventPages.Receiver] {
        let webhooks = settings.webhooks.map { ($0.name, $0.audience == nil ? "webhook" : "security events") }
        let polled = settings.polledReceivers.map { ($0.name, "security events, polled with a key") }
        let streams = settings.clientStreams.map { stream in
            (stream.name, stream.push == nil ? "stream of a client, polled" : "stream of a client, pushed")
        }
        let google = settings.tellsGoogle ? [(ReceiverName.google, "reports of ended tokens")] : []
        return (webhooks + polled + streams + google).map { name, form in
            (
                name: name, form: form, isVerifiable: settings.getsSecurityEvents(name)
            )
        }
    }
}

/// The trial's additions to the console (`siwa dev`).
package struct DevelopmentConsole: Sendable {
    /// A function that receives the service's requests, and a closure to call when trial pages change.
    package typealias Observer =
        @Sendable (_ received: RecentRequests, _ changed: @escaping @Sendable () -> Void) -> Void

    let pages: [ConsolePage]
    let card: OverviewPages.OtherCard
    let observe: Observer

    /// - Parameter card: Creates an additional card for the overview.
    package init(pages: [ConsolePage], card: @escaping OverviewPages.OtherCard, observe: @escaping Observer) {
        (self.pages, self.card, self.observe) = (pages, card, observe)
    }
}
