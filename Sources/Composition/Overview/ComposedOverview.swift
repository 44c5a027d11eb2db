import AppleAccounts
import AppleIDClient
import AuthorizationServer
import Console
import Cryptography
import HTTPAPI
import KeySets
import Logging
import PostgresStorage
import ServiceLifecycle
import SignIn

/// The console's overview page, with its numbers and their sources.
struct ComposedOverview {
    /// This replica's counts. Each replica counts, even without the console, because the hourly counts are
    /// sums over all replicas.
    let numbers: ServiceNumbers
    /// The PostgreSQL standbys' condition, for the overview and the metrics; `nil` on SQLite.
    let standbys: Watched<StandbyCondition?>?
    private let parts: Parts

    /// The overview's sources.
    struct Parts {
        let settings: ServiceSettings
        let database: any ServiceDatabase
        let store: any ServiceStore
        let keys: any VerificationKeys
        let warnings: ServiceWarnings
        let lastNotification: LastNotification
        let registry: MetricsRegistry
        let now: @Sendable () -> Moment
        let logger: Logger
    }

    init(_ parts: Parts) {
        self.parts = parts
        numbers = ServiceNumbers(
            registry: parts.registry, store: parts.store, now: parts.now, logger: parts.logger)
        standbys = (parts.database as? PostgresDatabase).map { database in
            Watched(every: .seconds(5)) { try await Self.standbys(of: database) }
        }
    }

    /// Creates the fault monitor for a service that has the console.
    func monitor(onChange: @escaping @Sendable () -> Void) -> OverviewMonitor {
        let (store, registry, standbys) = (parts.store, parts.registry, standbys)
        let (keys, warnings, now) = (parts.keys, parts.warnings, parts.now)
        let isPostgres = standbys != nil
        let work = Watched(every: .seconds(15)) { try await WaitingWork(store) }
        let hasSealingKeys = parts.settings.sealingKeys != nil
        let (keysURL, lastNotification) = (parts.settings.keysURL, parts.lastNotification)
        // If the service signs no tokens, lost signing keys of removed clients do no harm.
        let signs = parts.settings.oauth != nil || parts.settings.signsEvents
        let sealingKeys = signs ? parts.settings.sealingKeys : nil
        let signing = Watched(every: .seconds(15)) {
            try await SigningKeysLook(store, sealingKeys, at: now())
        }
        return OverviewMonitor(numbers: numbers, onChange: onChange) {
            var condition = ServiceCondition(now: now(), keys: keys.health)
            condition.isPostgres = isPostgres
            do {
                try await store.checkHealth()
            } catch {
                condition.databaseFailure = error as? StorageError ?? StorageError(.unavailable, detail: "")
            }
            condition.standbys = standbys?.latest.flatMap { $0 }
            condition.secondsAhead = warnings.secondsAhead
            if let look = signing.latest {
                (condition.shutKeys, condition.signs) = (look.shut, look.signs)
                // Retired keys are not counted.
                warnings.shutSigningKeys = Int64(look.shut.count)
            }
            condition.loneRequester = warnings.loneRequester
            condition.unreadableValues = warnings.unreadableSecrets
            (condition.keysURL, condition.lastStoredNotification) = (keysURL, lastNotification.moment)
            (condition.hasSealingKeys, condition.sampledValues) = (hasSealingKeys, warnings.sampledValues)
            condition.queues = Self.queues(registry)
            if let work = work.latest { condition.add(work, waiting: registry, at: now()) }
            return condition
        }
    }

    /// Returns the overview pages.
    func pages(
        _ monitor: OverviewMonitor, doctor: any DoctorFinding, card: OverviewPages.OtherCard?
    ) -> OverviewPages {
        let (settings, store) = (parts.settings, parts.store)
        return OverviewPages(
            numbers: numbers, monitor: monitor, version: SiwaVersion.current,
            findings: { doctor.findings() }, keys: { await Self.keys(settings, in: store) },
            retireKey: { [now = parts.now] keyID in
                try await Self.retire(keyID, by: .current, at: now(), settings.sealingKeys, in: store)
            }, card: card)
    }

    /// Removes a token signing key that the sealing keys cannot open.
    static func retire(
        _ keyID: String, by origin: AuditOrigin, at moment: Moment, _ keys: SealingKeyRing?,
        in store: any ServiceStore
    ) async throws -> Bool {
        let records = try await store.signingKeys()
        guard let keys, let record = records.first(where: { $0.keyID == keyID }),
            !SealedSample.shutKeys(among: [record], keys: keys).isEmpty
        else { return false }
        return try await store.removeSigningKey(record, by: origin, at: moment)
    }

    private static func standbys(of database: PostgresDatabase) async throws -> StandbyCondition? {
        let standbys = try await database.standbys()
        // A database role that may not read the synchronous standbys can still read the number of connected
        // standbys.
        return (
            required: standbys.required, connected: standbys.synchronous ?? standbys.connected,
            wanted: standbys.wanted
        )
    }

    /// Returns the queues from the metrics, which update every 15 seconds. Empty while the database is
    /// unreadable.
    private static func queues(_ registry: MetricsRegistry) -> [QueueCondition] {
        func values(_ metric: String) -> [String: Double] {
            Dictionary(
                registry.readings(of: metric).filter { !$0.value.isNaN }.compactMap { reading in
                    reading.labels["queue"].map { ($0, reading.value) }
                }, uniquingKeysWith: { first, _ in first })
        }
        let (counts, ages) = (values("siwa_work_waiting"), values("siwa_work_oldest_seconds"))
        return WorkMonitor.queues.compactMap { queue in
            ages[queue.rawValue].map { age in
                QueueCondition(
                    queue, count: counts[queue.rawValue].map { Int64($0) }, oldest: Int64(age))
            }
        }
    }

    /// Returns the sealing and signing keys for the console, without secrets.
    ///
    /// A configured key's age is the time since the first start with this key on this database.
    static func keys(_ settings: ServiceSettings, in store: any ServiceStore) async -> [KeyCondition] {
        let parts = (try? await store.configurationParts()).map { parts in
            Dictionary(parts.map { ($0.item, $0) }, uniquingKeysWith: { first, _ in first })
        }
        func age(_ item: String, _ fingerprint: String) -> KeyCondition.Age {
            guard let parts else { return .unknown }
            guard let part = parts[item], part.fingerprint == fingerprint else { return .notSeen }
            return .firstSeen(part.firstSeenAt)
        }
        var keys = (settings.sealingKeys?.keys ?? []).enumerated().map { index, key in
            KeyCondition(
                use: index == 0 ? "Seals stored values" : "Opens older stored values", name: key.name,
                fingerprint: key.fingerprint, age: age(ServiceSettings.part(of: key), key.fingerprint))
        }
        let files = SigningKeyFiles(
            Dictionary(uniqueKeysWithValues: settings.signingKeys.map { ($0.key.rawValue, $0.value) }))
        for team in settings.signingKeys.keys.map(\.rawValue).sorted() {
            for key in files.look(atTeam: team).keys {
                keys.append(
                    KeyCondition(
                        use: "Signs client secrets for Apple", name: "team \(team)", fingerprint: key.keyID,
                        age: age(
                            ServiceSettings.part(ofAppleKey: key.keyID),
                            ServiceSettings.fingerprint(ofAppleKey: key.keyID, team: team))))
            }
        }
        let records = (try? await store.signingKeys()) ?? []
        let shut = settings.sealingKeys.map { SealedSample.shutKeys(among: records, keys: $0) } ?? []
        for key in records {
            var condition = KeyCondition(
                use: "Signs tokens", name: key.algorithm, fingerprint: String(key.keyID.prefix(12)),
                age: .made(key.createdAt))
            condition.shutKeyID = shut.first { $0.keyID == key.keyID }?.keyID
            keys.append(condition)
        }
        return keys
    }
}

/// The token signing keys, opened with the sealing keys.
private struct SigningKeysLook: Sendable {
    let shut: [ShutKey]
    /// False if, for one of the algorithms, the sealing keys cannot open any signing key.
    let signs: Bool

    /// - Parameter keys: The sealing keys; `nil` if the service signs no tokens.
    init(_ store: any ServiceStore, _ keys: SealingKeyRing?, at now: Moment) async throws {
        guard let keys else {
            (shut, signs) = ([], true)
            return
        }
        let records = try await store.signingKeys().filter { now < $0.retiresAt }
        shut = SealedSample.shutKeys(among: records, keys: keys)
        let open = Set(records.map(\.keyID)).subtracting(shut.map(\.keyID))
        signs = Set(records.filter { open.contains($0.keyID) }.map(\.algorithm)).isSuperset(
            of: shut.map(\.algorithm))
    }
}

extension ServiceSettings {
    /// The URL of Apple's keys; empty if they come from a file.
    fileprivate var keysURL: String {
        switch keySource {
        case .remote: appleEndpoints.keySet
        case .pinned: ""
        }
    }
}

/// Facts about waiting work that are read from the database, because the metrics do not contain them.
struct WaitingWork: Sendable {
    let receivers: [ClaimedReceiver]
    /// The time of the first event that each receiver has not received. Receivers that have received all
    /// events are absent.
    let oldest: [ReceiverName: Moment]
    /// The earliest deadline of any unfinished erasure.
    let deadline: Moment?

    init(receivers: [ClaimedReceiver], next events: [AccountEvent], deadline: Moment?) {
        (self.receivers, self.deadline) = (receivers, deadline)
        let times = Dictionary(
            events.map { ($0.sequence, $0.recordedAt) }, uniquingKeysWith: { first, _ in first })
        oldest = receivers.reduce(into: [:]) { oldest, receiver in
            let waiting =
                receiver.retries.map(\.waitingSince) + [times[receiver.record.cursor + 1]].compactMap { $0 }
            oldest[receiver.record.name] = waiting.min()
        }
    }

    /// - Throws: `StorageError` if a database operation fails.
    init(_ store: any ServiceStore) async throws {
        let receivers = try await store.receivers()
        self.init(
            receivers: receivers,
            next: try await store.events(
                numbered: Array(Set(receivers.map { $0.record.cursor + 1 })).sorted()),
            deadline: try await store.earliestErasureDeadline())
    }
}

extension ServiceCondition {
    /// Adds the events that wait for receivers, and the deadline of unfinished erasures.
    ///
    /// - Parameter registry: Contains the numbers of waiting events, which update every 15 seconds.
    mutating func add(_ work: WaitingWork, waiting registry: MetricsRegistry, at now: Moment) {
        if let index = queues.firstIndex(where: { $0.name == .erasure }) {
            queues[index].deadline = work.deadline
        }
        let waiting = Dictionary(
            registry.readings(of: "siwa_event_receiver_waiting").compactMap { reading in
                reading.labels["receiver"].map { ($0, Int64(reading.value)) }
            }, uniquingKeysWith: { first, _ in first })
        // Stored receivers that are no longer configured have no metric.
        let known = work.receivers.filter { waiting[$0.record.name.rawValue] != nil }
        for (name, isOwn) in [(QueueCondition.Name.google, true), (.deliveries, false)] {
            let own = known.filter { ($0.record.name == .google) == isOwn }
            guard !own.isEmpty else { continue }
            let oldest = own.compactMap { work.oldest[$0.record.name] }.min()
            queues.append(
                QueueCondition(
                    name, count: own.reduce(0) { $0 + (waiting[$1.record.name.rawValue] ?? 0) },
                    oldest: oldest.map { max(0, now.milliseconds - $0.milliseconds) / 1000 } ?? 0))
        }
        pausedReceivers = known.filter { $0.record.pausedAt != nil }.map(\.record.name.rawValue)
            .filter { !$0.hasPrefix("client:") }
        lateReceivers = known.compactMap { receiver in
            let name = receiver.record.name
            // Other conditions cover reports to Google and client streams.
            guard name != .google, !name.rawValue.hasPrefix("client:"), receiver.record.pausedAt == nil,
                let since = work.oldest[name]
            else { return nil }
            return (name: name.rawValue, waiting: waiting[name.rawValue] ?? 0, since: since)
        }
        guard
            let failing = known.first(where: { $0.record.name == .google })?.retries
                .filter({ $0.attempts > 0 }), let first = failing.map(\.waitingSince).min()
        else { return }
        google = (
            failing: failing.count, attempts: failing.map(\.attempts).max() ?? 0, failingSince: first
        )
    }
}
