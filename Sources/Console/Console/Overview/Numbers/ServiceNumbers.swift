public import AppleAccounts
import Cryptography
import Encodings
public import HTTPAPI
import KeySets
public import Logging
public import ServiceLifecycle
import SignIn
import Synchronization

/// Counts the overview's numbers: by minute in memory, and by hour in the database, which sums the counts of
/// all replicas.
///
/// Reads the metrics every five seconds, and stores the hours once a minute. If the process is killed, it
/// loses at most its last minute's counts.
public final class ServiceNumbers: Service {
    static let interval = Duration.seconds(5)
    /// Number of metrics readings between two database writes.
    static let readingsPerWrite = 12

    private let totals: @Sendable () -> NumberSeries.Counts
    private let store: any ServiceHourStore
    private let replica: String
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog
    private let series = Mutex(NumberSeries())
    private let isWriting = Mutex(false)
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    public convenience init(
        registry: MetricsRegistry, store: any ServiceHourStore, now: @escaping @Sendable () -> Moment,
        logger: Logger
    ) {
        let reading = RegistryTotals(registry: registry)
        self.init(totals: { reading.totals }, store: store, now: now, logger: logger)
    }

    /// - Parameters:
    ///   - totals: Counts since the process started.
    ///   - replica: This process's name, which is unique among all processes that share the database.
    init(
        totals: @escaping @Sendable () -> NumberSeries.Counts, store: any ServiceHourStore,
        replica: String = Hexadecimal.encode(SecureRandom.bytes(count: 8)),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        (self.totals, self.store, self.replica) = (totals, store, replica)
        (self.clock, self.now, log) = (clock, now, ThrottledLog(logger))
    }

    /// Calls `body` after each reading that finds a changed number.
    public func whenChanged(_ body: @escaping @Sendable () -> Void) { listener.withLock { $0 = body } }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var readings = 0
            while !Task.isCancelled {
                self.read()
                readings += 1
                if readings.isMultiple(of: Self.readingsPerWrite) { await self.write() }
                try? await self.clock.sleep(for: Self.interval)
            }
        }
        read()
        await write()
    }

    func read() {
        let totals = totals()
        let hasChanged = series.withLock { $0.take(totals, at: now()) }
        if hasChanged { listener.withLock { $0 }?() }
    }

    /// Stores the hours that have changed. Hours that cannot be stored stay in memory, for at most 48 hours.
    ///
    /// A write replaces the stored counts, so if two writes overlapped, the older write could end last and
    /// undo the newer write. So a call during a write does nothing, and the next write includes its counts.
    func write() async {
        let isFirst = isWriting.withLock { isWriting in
            defer { isWriting = true }
            return !isWriting
        }
        guard isFirst else { return }
        defer { isWriting.withLock { $0 = false } }
        let hours = series.withLock { $0.takeChangedHours() }
        guard !hours.isEmpty else { return }
        let rows = hours.flatMap { hour, counts in
            counts.map { ServiceHourCount(replica: replica, hour: hour, name: $0.key.text, count: $0.value) }
        }.filter { $0.name.count <= ServiceHourCount.longestName }
        do {
            try await store.setServiceHours(rows)
            series.withLock { $0.forgetStoredHours(at: now()) }
        } catch {
            series.withLock { $0.putBack(hours) }
            log.tell("numbers of the console were not stored", about: error, at: now())
        }
    }

    func lastHour() -> [NumberSeries.Point] { series.withLock { $0.lastHour(at: now()) } }

    /// The time of the last notification, the time of the last rejected token, and the cause of the last
    /// failed transactions.
    var newest: (notification: Moment?, rejection: Moment?, failure: String?) {
        series.withLock { ($0.lastNotification, $0.lastRejection, $0.lastFailure) }
    }

    /// The current time, by the clock that assigns counts to minutes and hours.
    var moment: Moment { now() }

    func sum(ofLastMinutes number: Int) -> NumberSeries.Counts {
        series.withLock { $0.sum(ofLastMinutes: number, at: now()) }
    }

    /// Returns all replicas' counts for the last hours, including the current hour, oldest first. Adds this
    /// process's unstored counts in memory, so that loading a page writes nothing.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func hours(_ number: Int) async throws -> [NumberSeries.Point] {
        let current = ServiceHourCount.beginning(of: now())
        let hours = (0..<Int64(number)).reversed().map {
            current.advanced(byMilliseconds: -$0 * ServiceHourCount.milliseconds)
        }
        guard let first = hours.first else { return [] }
        read()
        var counts: [Moment: NumberSeries.Counts] = [:]
        for sum in try await store.serviceHours(from: first) {
            counts[sum.hour, default: [:]][CountName(stored: sum.name)] = sum.count
        }
        // Reads the unstored counts after the stored sums, so that the page may miss counts that a concurrent
        // write stores, but never shows them twice.
        for (hour, own) in series.withLock({ $0.unstoredHours }) {
            counts[hour, default: [:]].merge(own, uniquingKeysWith: +)
        }
        return hours.map { NumberSeries.Point(begin: $0, counts: counts[$0] ?? [:]) }
    }
}

/// Reads the overview's totals from the process's metrics, so that requests need no second set of counters.
struct RegistryTotals: Sendable {
    /// Routes whose request durations are shown, because users wait for these requests.
    static let timedRoutes: Set<String> = ["/v1/sign-ins", "/v1/identity-tokens/verify", "/oauth/token"]

    let registry: MetricsRegistry

    var totals: NumberSeries.Counts {
        var totals: NumberSeries.Counts = [:]
        func add(_ value: Double, to name: CountName) {
            totals[name, default: 0] += Int64(exactly: value.rounded()) ?? 0
        }
        func each(_ metric: String, _ body: (MetricReading) -> CountName?) {
            for reading in registry.readings(of: metric) {
                if let name = body(reading) { add(reading.value, to: name) }
            }
        }
        each("siwa_http_requests_total") { reading in
            let isStored = reading.labels["status"] == "200" || reading.labels["status"] == "201"
            return reading.labels["route"] == "/v1/sign-ins" && isStored ? .signIn : nil
        }
        each("siwa_web_sign_ins_total") { $0.labels["step"] == "signed_in" ? .signIn : nil }
        // This metric omits notifications that came too late, or after a daily check found the same change.
        each("siwa_apple_notified_revocations_total") { _ in .revoked }
        each("siwa_notifications_total") { _ in .notification }
        each("siwa_apple_checks_total") { $0.labels["result"] == "rejected" ? .checkRejected : nil }
        for metric in ["siwa_apple_exchanges_total", "siwa_apple_checks_total"] {
            each(metric) { $0.labels["result"] == "client_rejected" ? .secretRefused : nil }
        }
        each("siwa_verifications_total") { reading in
            guard reading.labels["kind"] == "identity-token" else { return nil }
            return switch reading.labels["result"] {
            case "accepted": .verified
            case KeySetError.Code.keysUnavailable.rawValue: .undecided
            case .some, nil: .unverified
            }
        }
        each("siwa_http_requests_turned_away_total") { _ in .turnedAway }
        each("siwa_http_refusals_total") { $0.labels["code"].map { .refused($0) } }
        each("siwa_storage_failures_total") { $0.labels["cause"].map { .storageFailure($0) } }
        each("siwa_http_request_duration_seconds") { reading in
            guard let route = reading.labels["route"], Self.timedRoutes.contains(route) else { return nil }
            return reading.labels[MetricReading.bound].map { .latency($0) }
        }
        each("siwa_http_caller_requests_total") { reading in
            guard let caller = reading.labels["caller"] else { return nil }
            return reading.labels["result"] == "refused"
                ? .refused(caller: caller) : .answered(caller: caller)
        }
        return totals
    }
}
