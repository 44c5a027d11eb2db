import HTTPEngine
import Logging

/// Counts connections that were closed to make room, and logs the counts from time to time.
struct EarlyCloseNotices: Sendable {
    /// Milliseconds between two log lines.
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
    /// The label in the metrics.
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
