import AppleAccounts
import CoreMetrics
import Logging
import SignIn

/// Counts and logs failed database transactions: the first failure of each cause at once, then at most one a
/// minute.
///
/// The response to a request says only that the database failed. The log line has the database's message,
/// with PostgreSQL's SQLSTATE or SQLite's result code.
struct StorageFailures: Sendable {
    private let log: ThrottledLog
    private let counters: [StorageError.Code: Counter]
    private let now: @Sendable () -> Moment

    init(
        logger: Logger, factory: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> Moment
    ) {
        log = ThrottledLog(logger)
        self.now = now
        counters = Dictionary(
            uniqueKeysWithValues: Self.causes.map { code in
                let counter = Counter(
                    label: "siwa_storage_failures", dimensions: [("cause", code.rawValue)], factory: factory)
                return (code, counter)
            })
    }

    /// The codes of failed transactions. The other codes are caused by a value, or prevent the start.
    static let causes: [StorageError.Code] = [.unavailable, .busy, .full, .readOnly, .corrupted]

    func record(_ error: StorageError) {
        counters[error.code]?.increment()
        // Only the first words distinguish log lines: the rest names files and statements, which vary without
        // bound.
        let words = error.detail.prefix { $0 != ":" }.prefix(64)
        log.tell(
            "the database failed a transaction", about: nil, of: "\(error.code.rawValue) \(words)",
            level: .error, at: now(),
            metadata: ["cause": "\(error.code.rawValue)", "detail": "\(error.detail)"])
    }
}
