import AppleAccounts
import CoreMetrics
import Logging
import SignIn
import Synchronization

/// Counts and logs failed transactions of the database, reads and claims included: the first failure of each cause at once, then at most one a
/// minute.
///
/// The response to a request says only that the database failed. The log line has the database's message,
/// with PostgreSQL's SQLSTATE or SQLite's result code.
struct StorageFailures: Sendable {
    private let log: ThrottledLog
    private let counters: [StorageError.Code: Counter]
    private let databaseCodes: DatabaseCodeCounters
    private let now: @Sendable () -> Moment

    init(
        logger: Logger, factory: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> Moment
    ) {
        log = ThrottledLog(logger)
        self.now = now
        databaseCodes = DatabaseCodeCounters(factory: factory)
        counters = Dictionary(
            uniqueKeysWithValues: Self.causes.map { code in
                let counter = Counter(
                    label: "siwa_storage_failures", dimensions: [("cause", code.rawValue)], factory: factory)
                return (code, counter)
            })
    }

    /// The codes of failed transactions. The other codes are caused by a value, or prevent the start.
    static let causes: [StorageError.Code] = [.unavailable, .busy, .full, .readOnly, .corrupted]

    /// The codes of the runbook, of PostgreSQL and of SQLite: a full disk, a lock, a server that is a standby, is
    /// lost, or restarts.
    static let usualCodes = ["53100", "13", "55P03", "5", "25006", "08006", "57P01"]

    func record(_ error: StorageError) {
        counters[error.code]?.increment()
        if counters[error.code] != nil { databaseCodes.count(error.databaseCode) }
        // Only the first words distinguish log lines: the rest names files and statements, which vary without
        // bound.
        let words = error.detail.prefix { $0 != ":" }.prefix(64)
        log.tell(
            "the database failed a transaction", about: nil, of: "\(error.code.rawValue) \(words)",
            level: .error, at: now(),
            metadata: ["cause": "\(error.code.rawValue)", "detail": "\(error.detail)"])
    }
}

/// Counts failed transactions by the database's own code.
private final class DatabaseCodeCounters: Sendable {
    /// Bound of the series. A database that fails in more ways counts the others as `other`.
    private static let most = 32

    private let factory: any MetricsFactory
    private let counters = Mutex<[String: Counter]>([:])

    init(factory: any MetricsFactory) {
        self.factory = factory
        // Each is there before its first failure, so that a rate finds it.
        for code in ["none"] + StorageFailures.usualCodes { _ = counter(code) }
    }

    func count(_ code: String?) {
        counter(code ?? "none").increment()
    }

    private func counter(_ code: String) -> Counter {
        counters.withLock { counters in
            let code = counters[code] != nil || counters.count < Self.most ? code : "other"
            if let counter = counters[code] { return counter }
            let counter = Counter(
                label: "siwa_storage_errors", dimensions: [("code", code)], factory: factory)
            counters[code] = counter
            return counter
        }
    }
}
