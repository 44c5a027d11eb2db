import Synchronization

/// Counts judged requests: in total since the process started, for metrics, and by hour, until a worker has
/// stored the hourly counts.
///
/// The configuration limits memory use: there is one entry per target, with at most `mostHours` hours, and
/// requests cannot add targets.
public final class AppCheckCounts: Sendable {
    private struct State {
        var totals: [AppCheckTarget: AppCheckTally]
        /// Counts by hour, then by target.
        var pending: [Int64: [AppCheckTarget: AppCheckTally]] = [:]
        var dropped: Int64 = 0
    }

    /// Maximum number of hours whose counts are kept while the database is unreachable. If there are more,
    /// the oldest hour is discarded and its requests are added to `dropped`.
    public static let mostHours = 48

    public let targets: [AppCheckTarget]
    private let state: Mutex<State>

    public init(of policies: AppCheckPolicies) {
        targets = policies.all.map(\.target)
        state = Mutex(
            State(totals: Dictionary(uniqueKeysWithValues: targets.map { ($0, AppCheckTally()) })))
    }

    /// Counts one request. A target that is not configured is ignored.
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

    /// Returns the request counts since the process started.
    public func totals(of target: AppCheckTarget) -> AppCheckTally {
        state.withLock { $0.totals[target] } ?? AppCheckTally()
    }

    /// Number of requests in dropped hours, since the process started.
    public var dropped: Int64 { state.withLock { $0.dropped } }

    /// Removes and returns all counts that are not stored yet, oldest hour first.
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

    /// Adds counts that the worker could not store.
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

/// Request counts by kind.
public struct AppCheckTally: Sendable, Hashable {
    public var verified: Int64
    public var outdatedApp: Int64
    public var unknownOrigin: Int64
    public var invalid: Int64

    public init(verified: Int64 = 0, outdatedApp: Int64 = 0, unknownOrigin: Int64 = 0, invalid: Int64 = 0) {
        self.verified = verified
        self.outdatedApp = outdatedApp
        self.unknownOrigin = unknownOrigin
        self.invalid = invalid
    }

    public subscript(kind: AppCheckKind) -> Int64 {
        get {
            switch kind {
            case .verified: verified
            case .outdatedApp: outdatedApp
            case .unknownOrigin: unknownOrigin
            case .invalid: invalid
            }
        }
        set {
            switch kind {
            case .verified: verified = newValue
            case .outdatedApp: outdatedApp = newValue
            case .unknownOrigin: unknownOrigin = newValue
            case .invalid: invalid = newValue
            }
        }
    }

    /// Number of all judged requests.
    public var total: Int64 { AppCheckKind.allCases.reduce(0) { $0 &+ self[$1] } }

    /// The requests that enforced mode would refuse.
    public var refusable: Int64 { total &- verified }

    public static func += (tally: inout AppCheckTally, other: AppCheckTally) {
        for kind in AppCheckKind.allCases { tally[kind] &+= other[kind] }
    }
}

/// Counts of the requests that were judged for one target in one hour.
public struct AppCheckHour: Sendable, Hashable {
    public let target: AppCheckTarget
    /// Start of the hour in seconds since 1970, a multiple of 3600.
    public let hour: Int64
    public var tally: AppCheckTally

    public static let seconds: Int64 = 3600
    /// Retention time of hourly counts, in seconds: 7 days.
    public static let kept: Int64 = 7 * 86_400

    public init(target: AppCheckTarget, hour: Int64, tally: AppCheckTally) {
        (self.target, self.hour, self.tally) = (target, hour, tally)
    }

    /// Returns the start of the hour that contains a time in seconds since 1970.
    public static func beginning(of now: Int64) -> Int64 { max(0, now) / seconds * seconds }
}

/// Stores the hourly counts. One table contains the sums over all replicas.
public protocol AppCheckHourStore: Sendable {
    /// Adds the counts to the stored counts in one transaction. The rows have distinct targets and hours.
    func addAppCheckHours(_ hours: [AppCheckHour]) async throws

    /// Returns the counts for these targets since the given hour, oldest first. Omits hours without requests.
    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour]

    /// Deletes a limited number of hours that began before `end`, in seconds since 1970. Returns the number
    /// of deleted rows.
    func purgeAppCheckHours(before end: Int64) async throws -> Int
}
