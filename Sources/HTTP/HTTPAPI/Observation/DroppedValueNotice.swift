import AppleIdentity
public import Logging
import SignIn

/// Counts the values that sign-ins drop, by name, and logs each name once a minute at most: a claim that Apple writes
/// in another form is in every token.
public final class DroppedValueNotice: Sendable {
    /// Milliseconds between two lines about one name.
    static let interval: Int64 = 60_000

    private let counts: [String: (cell: CounterCell, notice: ThrottledNotice)]

    /// - Parameter now: Milliseconds since 1970.
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
