import Synchronization

/// Counts judged requests: since the start for metrics, and by hour until a worker has stored them.
///
/// Memory is bounded by the configuration: it has an entry for each target, and for each target at most
/// `mostHours` hours. Nothing in a request can add a target.
public final class AppCheckCounts: Sendable {
    private struct State {
        var totals: [AppCheckTarget: AppCheckTally]
        /// By hour, then by target.
        var pending: [Int64: [AppCheckTarget: AppCheckTally]] = [:]
        var dropped: Int64 = 0
    }

    /// Hours that wait while the database is away. Then the oldest hour is dropped, and counted as dropped.
    public static let mostHours = 48

    public let targets: [AppCheckTarget]
    private let state: Mutex<State>

    public init(of policies: AppCheckPolicies) {
        targets = policies.all.map(\.target)
        state = Mutex(
            State(totals: Dictionary(uniqueKeysWithValues: targets.map { ($0, AppCheckTally()) })))
    }

    /// Counts one request. A target that is not configured is not counted.
    ///
    /// - Parameter now: Seconds since 1970.
    public func add(_ kind: AppCheckKind, for target: AppCheckTarget, at now: Int64) {
        let hour = AppCheckHour.beginning(of: now)
        state.withLock { state in
            guard state.totals[target] != nil else { return }
            state.totals[target]?[kind] &+= 1
            var tally = AppCheckTally()
            tally[kind] = 1
            Self.add(tally, of: target, at: hour, to: &state)
        }
    }

    /// Numbers since the start of the process.
    public func totals(of target: AppCheckTarget) -> AppCheckTally {
        state.withLock { $0.totals[target] } ?? AppCheckTally()
    }

    /// Requests whose hour was dropped, since the start of the process.
    public var dropped: Int64 { state.withLock { $0.dropped } }

    /// Takes everything that is not stored yet, the oldest hour first.
    public func take() -> [AppCheckHour] {
        let pending = state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
        return pending.sorted { $0.key < $1.key }.flatMap { hour, tallies in
            targets.compactMap { target in
                tallies[target].map { AppCheckHour(target: target, hour: hour, tally: $0) }
            }
        }
    }

    /// Takes back what could not be stored.
    public func putBack(_ hours: [AppCheckHour]) {
        state.withLock { state in
            for hour in hours where state.totals[hour.target] != nil {
                Self.add(hour.tally, of: hour.target, at: hour.hour, to: &state)
            }
        }
    }

    private static func add(
        _ tally: AppCheckTally, of target: AppCheckTarget, at hour: Int64, to state: inout State
    ) {
        state.pending[hour, default: [:]][target, default: AppCheckTally()] += tally
        while state.pending.count > mostHours, let oldest = state.pending.keys.min() {
            let lost = state.pending.removeValue(forKey: oldest) ?? [:]
            for tally in lost.values { state.dropped &+= tally.total }
        }
    }
}
