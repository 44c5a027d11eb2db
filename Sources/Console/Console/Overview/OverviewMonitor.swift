import AppleAccounts
public import ServiceLifecycle
import Synchronization

/// Looks every five seconds for what is wrong, so that the overview can say since when. Runs where the console
/// is on.
public final class OverviewMonitor: Service {
    static let interval = Duration.seconds(5)
    /// Looks between two reads of the day's counts in the database.
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
    ///   - look: The condition of everything that is not counted. It must not wait for a database that does not
    ///     respond.
    ///   - onChange: Called when something is wrong that was right, or the other way round.
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

    /// Looks, and returns what it has found.
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

    /// Returns the findings of the last look; looks if there was none.
    func latest() async -> (condition: ServiceCondition, troubles: [DatedTrouble]) {
        let known = state.withLock { state in state.condition.map { ($0, state.troubles) } }
        if let known { return (known.0, known.1) }
        return await lookNow()
    }

    /// Troubles that everyone with a session may know, as the last look has found them.
    var knownTroubles: [DatedTrouble] { state.withLock { $0.troubles.filter(\.trouble.concernsEveryone) } }

    /// The troubles that everyone with a session may know after a write has failed: what its error says of the
    /// database, unless that is known, and the others.
    func troubles(after error: any Error) -> [DatedTrouble] {
        let known = knownTroubles
        guard !known.contains(where: \.trouble.isOfDatabase), let failure = error as? StorageError,
            var condition = state.withLock({ $0.condition })
        else { return known }
        condition.databaseFailure = failure
        let own = condition.database.map { DatedTrouble(trouble: $0, since: condition.now) }
        return [own].compactMap(\.self) + known
    }

    /// Counts of the last day, read once a minute: of this process alone while the database does not respond.
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
        // What has been counted since the read is in the minutes.
        return state.withLock { $0.day }.merging(numbers.sum(ofLastMinutes: 60)) { max($0, $1) }
    }
}

/// Finds out when any replica last found a rejected refresh token, from the counts that all replicas store by hour.
///
/// The moment is never too late, so a notification that came after the rejection is not taken for one before it. Does
/// no I/O and reads no clock.
struct SharedRejections {
    /// Milliseconds after which a replica has stored what it has counted.
    static let slowestWrite: Int64 = 65_000

    private var counts: [Moment: Int64] = [:]
    private var lookedAt: Moment?
    /// The moment since which there has been a rejection; `nil` before the first in the hours.
    private(set) var last: Moment?

    /// - Parameter hours: Beginnings of hours with the rejections of all replicas.
    mutating func look(at hours: [(hour: Moment, count: Int64)], now: Moment) {
        for (hour, count) in hours where count > counts[hour] ?? 0 {
            // What was not there at the last look had not been stored before it.
            let since = lookedAt.map { max(hour, $0.advanced(byMilliseconds: -Self.slowestWrite)) } ?? hour
            last = last.map { max($0, since) } ?? since
        }
        counts = Dictionary(hours.map { ($0.hour, $0.count) }, uniquingKeysWith: { $1 })
        lookedAt = now
    }
}
