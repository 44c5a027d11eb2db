import Logging

/// Counts the requests that were rejected because of overload, and logs their number from time to time.
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
