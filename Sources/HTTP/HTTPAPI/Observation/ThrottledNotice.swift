import AppleIdentity
import HTTPEngine
public import Logging
import SignIn
import Synchronization

/// Counts a frequent event, and logs the count at intervals, so that the log stays short.
final class ThrottledNotice: Sendable {
    private let message: Logger.Message
    private let interval: Int64
    private let logger: Logger
    private let metadata: Logger.Metadata
    private let now: @Sendable () -> Int64
    private let saidAt = Atomic<Int64>(0)
    private let unsaid = Atomic<Int64>(0)

    /// `interval` is in milliseconds. `now` returns the current time in milliseconds.
    init(
        _ message: Logger.Message, every interval: Int64, logger: Logger, metadata: Logger.Metadata = [:],
        now: @escaping @Sendable () -> Int64
    ) {
        self.metadata = metadata
        (self.message, self.interval, self.logger, self.now) = (message, interval, logger, now)
    }

    func count() {
        unsaid.wrappingAdd(1, ordering: .relaxed)
        let (now, said) = (now(), saidAt.load(ordering: .relaxed))
        // Without the first check, setting the clock back would silence the notice until the clock catches
        // up.
        guard now < said || now - said >= interval,
            saidAt.compareExchange(expected: said, desired: now, ordering: .relaxed).exchanged
        else { return }
        let count = unsaid.exchange(0, ordering: .relaxed)
        logger.warning(message, metadata: metadata.merging(["count": "\(count)"]) { $1 })
    }
}

/// Counts requests that were rejected because of overload, and logs the count at intervals.
final class OverloadNotice: Sendable {
    private static let interval: Int64 = 1000

    private let counter: CounterCell
    private let notice: ThrottledNotice

    init(registry: MetricsRegistry, logger: Logger, now: @escaping @Sendable () -> Int64) {
        counter = registry.counter(
            "siwa_http_requests_turned_away_total",
            help: "Requests rejected with 503 because of overload.")
        notice = ThrottledNotice(
            "overloaded: requests turned away", every: Self.interval, logger: logger, now: now)
    }

    func count() {
        counter.increment(by: 1)
        notice.count()
    }
}

/// Counts dropped sign-in values by name, and logs each name at most once a minute, because if Apple changes
/// a claim's form, every token contains the new form.
public final class DroppedValueNotice: Sendable {
    /// Minimum time between two log lines for the same name, in milliseconds.
    static let interval: Int64 = 60_000

    private let counts: [String: (cell: CounterCell, notice: ThrottledNotice)]

    /// - Parameter now: Returns the current time in milliseconds since 1970.
    public init(registry: MetricsRegistry, logger: Logger, now: @escaping @Sendable () -> Int64) {
        let names = DroppedClaims.all.map(\.name) + UserProfile.droppableMembers
        counts = Dictionary(
            uniqueKeysWithValues: names.map { name in
                let cell = registry.counter(
                    "siwa_dropped_values_total", [("name", name)],
                    help: "Values of identity tokens and of user that decide nothing and were dropped.")
                let notice = ThrottledNotice(
                    "values of sign-ins were dropped", every: Self.interval, logger: logger,
                    metadata: ["name": "\(name)"], now: now)
                return (name, (cell, notice))
            })
    }

    @Sendable public func count(_ names: [String]) {
        for name in names {
            counts[name]?.cell.increment(by: 1)
            counts[name]?.notice.count()
        }
    }
}

/// Counts connections that the service closed to make room for other connections, and logs the counts at
/// intervals.
struct EarlyCloseNotices: Sendable {
    /// Minimum time between two log lines, in milliseconds.
    static let interval: Int64 = 60_000

    private let cells: [EarlyCloseReason: (counter: CounterCell, notice: ThrottledNotice)]

    init(registry: MetricsRegistry, logger: Logger, now: @escaping @Sendable () -> Int64) {
        let cells = EarlyCloseReason.allCases.map { reason in
            let counter = registry.counter(
                "siwa_http_connections_closed_early_total", [("reason", reason.label)],
                help: "Connections closed to make room for others.")
            let notice = ThrottledNotice(reason.message, every: Self.interval, logger: logger, now: now)
            return (reason, (counter: counter, notice: notice))
        }
        self.cells = Dictionary(uniqueKeysWithValues: cells)
    }

    func count(_ reason: EarlyCloseReason) {
        cells[reason]?.counter.increment(by: 1)
        cells[reason]?.notice.count()
    }
}

extension EarlyCloseReason {
    /// Value of the `reason` label in the metrics.
    var label: String {
        switch self {
        case .crowded: "crowded"
        case .addressShare: "address_share"
        case .refused: "refused"
        }
    }

    var message: Logger.Message {
        switch self {
        case .crowded: "connections near their limit: the longest idle are closed"
        case .addressShare: "one address holds its share of the connections: its longest idle are closed"
        case .refused: "one address holds its share of the connections, all busy: more are closed at once"
        }
    }
}
