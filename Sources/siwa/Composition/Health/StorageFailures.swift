import AppleAccounts
import CoreMetrics
import Logging
import SignIn

/// Counts and logs the transactions that the database failed, whoever asked for them: the first of each cause
/// at once, then at most once a minute.
///
/// What a request is told is only that the database did not take it. The words of the database, with
/// PostgreSQL's SQLSTATE or SQLite's result code, are in this line.
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

    /// The codes that a transaction can fail with. The others are a value's fault, or end the start.
    static let causes: [StorageError.Code] = [.unavailable, .busy, .full, .readOnly, .corrupted]

    func record(_ error: StorageError) {
        counters[error.code]?.increment()
        // The first words, because what follows names files and statements, which are many.
        let words = error.detail.prefix { $0 != ":" }.prefix(64)
        log.tell(
            "the database failed a transaction", about: nil, of: "\(error.code.rawValue) \(words)",
            level: .error, at: now(),
            metadata: ["cause": "\(error.code.rawValue)", "detail": "\(error.detail)"])
    }
}
