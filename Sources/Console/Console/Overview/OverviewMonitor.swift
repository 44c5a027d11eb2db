import AppleAccounts
public import ServiceLifecycle
import Synchronization

/// Checks for faults every five seconds, so that the overview can show when each fault began. Runs only if
/// the console is enabled.
public final class OverviewMonitor: Service {
    static let interval = Duration.seconds(5)
    /// Number of checks between two database reads of the day's counts.
    static let looksPerDay = 12

    struct State {
        var log = TroubleLog()
        var condition: ServiceCondition?
        var troubles: [DatedTrouble] = []
        var day: NumberSeries.Counts = [:]
        var rejections = SharedRejections()
        var looks = 0
    }

    private let numbers: ServiceNumbers
    private let look: @Sendable () async -> ServiceCondition
    private let clock: any Clock<Duration>
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - look: Measures the service's condition, without the counts. It must not wait for an unresponsive
    ///     database.
    ///   - onChange: Called when a fault begins or ends.
    public init(
        numbers: ServiceNumbers, clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @Sendable () -> Void = {}, look: @escaping @Sendable () async -> ServiceCondition
    ) {
        (self.numbers, self.clock, self.onChange, self.look) = (numbers, clock, onChange, look)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.lookNow()
                try? await self.clock.sleep(for: Self.interval)
            }
        }
    }

    /// Checks for faults now, and returns them.
    @discardableResult
    func lookNow() async -> (condition: ServiceCondition, troubles: [DatedTrouble]) {
        var condition = await look()
        numbers.read()
        let newest = numbers.newest
        condition.lastNotification = newest.notification
        condition.newestFailure = newest.failure.flatMap(StorageError.Code.init(rawValue:))
        (condition.newest, condition.latest) = (numbers.sum(ofLastMinutes: 2), numbers.sum(ofLastMinutes: 5))
        (condition.recent, condition.hour) = (numbers.sum(ofLastMinutes: 10), numbers.sum(ofLastMinutes: 60))
        condition.day = await day(isDatabaseUp: condition.databaseFailure == nil)
        condition.lastRejection = [newest.rejection, state.withLock { $0.rejections.last }]
            .compactMap { $0 }.max()
        let found = condition.troubles
        let (dated, hasChanged) = state.withLock { state in
            let before = state.troubles
            state.condition = condition
            state.troubles = state.log.date(found, at: condition.now)
            return (state.troubles, state.troubles != before)
        }
        if hasChanged { onChange() }
        return (condition, dated)
    }

    /// Returns the result of the last check. Checks first if there is no result yet.
    func latest() async -> (condition: ServiceCondition, troubles: [DatedTrouble]) {
        let known = state.withLock { state in state.condition.map { ($0, state.troubles) } }
        if let known { return (known.0, known.1) }
        return await lookNow()
    }

    /// Troubles from the last check that every signed-in operator may see.
    var knownTroubles: [DatedTrouble] { state.withLock { $0.troubles.filter(\.trouble.concernsEveryone) } }

    /// Returns the troubles that every operator may see after a failed database call: the known troubles, and
    /// the database fault behind the error, unless it is already known.
    func troubles(after error: any Error) -> [DatedTrouble] {
        let known = knownTroubles
        guard !known.contains(where: \.trouble.isOfDatabase), let failure = error as? StorageError,
            var condition = state.withLock({ $0.condition })
        else { return known }
        condition.databaseFailure = failure
        let own = condition.database.map { DatedTrouble(trouble: $0, since: condition.now) }
        return [own].compactMap(\.self) + known
    }

    /// Returns the last day's counts, read from the database once a minute, with this process's newer counts.
    private func day(isDatabaseUp: Bool) async -> NumberSeries.Counts {
        let isDue = state.withLock { state in
            defer { state.looks += 1 }
            return state.looks.isMultiple(of: Self.looksPerDay)
        }
        if isDue, isDatabaseUp, let hours = try? await numbers.hours(25) {
            let sum: NumberSeries.Counts = hours.reduce(into: [:]) {
                $0.merge($1.counts, uniquingKeysWith: +)
            }
            state.withLock { state in
                state.day = sum
                state.rejections.look(
                    at: hours.map { ($0.begin, $0.counts[.checkRejected] ?? 0) }, now: numbers.moment)
            }
        }
        // The last hour's minutes include counts that are newer than the last database read.
        return state.withLock { $0.day }.merging(numbers.sum(ofLastMinutes: 60)) { max($0, $1) }
    }
}

/// Uses the stored hourly counts to derive the time at which any replica last found a rejected refresh token.
///
/// The time is never later than the rejection, so a notification that follows the rejection never seems to
/// precede it. Does no I/O and reads no clock.
struct SharedRejections {
    /// Maximum time in milliseconds that a replica takes to store its counts.
    static let slowestWrite: Int64 = 65_000

    private var counts: [Moment: Int64] = [:]
    private var lookedAt: Moment?
    /// Earliest possible time of the last rejection; `nil` if the hours contain none.
    private(set) var last: Moment?

    /// - Parameter hours: Start times of hours, each with the number of rejections on all replicas.
    mutating func look(at hours: [(hour: Moment, count: Int64)], now: Moment) {
        for (hour, count) in hours where count > counts[hour] ?? 0 {
            // The last read did not include this rejection, so a replica must have stored it afterwards.
            let since = lookedAt.map { max(hour, $0.advanced(byMilliseconds: -Self.slowestWrite)) } ?? hour
            last = last.map { max($0, since) } ?? since
        }
        counts = Dictionary(hours.map { ($0.hour, $0.count) }, uniquingKeysWith: { $1 })
        lookedAt = now
    }
}
