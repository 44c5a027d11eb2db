import Logging
import Synchronization

/// Counts the requests that were turned away unread, and says so once in a while.
final class TurnedAwayNotice: Sendable {
    private static let interval: Int64 = 1000

    private let counter: CounterCell
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let saidAt = Atomic<Int64>(0)
    private let unsaid = Atomic<Int64>(0)

    init(registry: MetricsRegistry, logger: Logger, now: @escaping @Sendable () -> Int64) {
        counter = registry.counter(
            "siwa_http_requests_turned_away_total",
            help: "Requests answered with 503 unread, because of overload.")
        (self.logger, self.now) = (logger, now)
    }

    func count() {
        counter.increment(by: 1)
        unsaid.wrappingAdd(1, ordering: .relaxed)
        let (now, said) = (now(), saidAt.load(ordering: .relaxed))
        // A clock that was set back must not silence this until it is where it was.
        guard now < said || now - said >= Self.interval,
            saidAt.compareExchange(expected: said, desired: now, ordering: .relaxed).exchanged
        else { return }
        let count = unsaid.exchange(0, ordering: .relaxed)
        logger.warning("overloaded: requests turned away", metadata: ["count": "\(count)"])
    }
}
