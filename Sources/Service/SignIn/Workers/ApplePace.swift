import AppleAccounts
import Synchronization

/// Bounds a worker's calls to Apple. Limits their rate. Prevents calls while Apple is unreachable or
/// throttles calls, and calls for a client ID that Apple refuses. Does no I/O and reads no clock.
struct ApplePace: Sendable {
    /// A worker's limits.
    struct Limits: Sendable {
        /// Pauses while Apple is unreachable or throttles calls.
        let backoff: Backoff
        /// Number of consecutive throttled calls that pause all calls.
        let throttlesInARow: Int
        /// Number of consecutive refused calls that pause a client ID.
        let refusalsInARow: Int
        /// Duration of a client ID's pause in milliseconds, during which the operator must correct its
        /// configuration.
        let clientRest: Int64
    }

    private struct Refusals {
        var count: Int
        var rest: Pause?
    }

    /// Maximum number of client IDs with counted refusals. It bounds the memory used by a deployment with
    /// many client IDs.
    static let mostRefused = 1024

    private let limits: Limits
    private var bucket: TokenBucket?
    private var failures = 0
    private var throttles = 0
    private var outOfReach: Pause?
    private var throttle: Pause?
    /// A pause during which one call tests whether Apple still throttles.
    private var probe: Pause?
    private var refusals: [ClientID: Refusals] = [:]

    /// - Parameter perSecond: Maximum call rate; `nil` for no limit.
    init(_ limits: Limits, perSecond: Double?, at now: Moment) {
        self.limits = limits
        bucket = perSecond.map { TokenBucket(perSecond: $0, at: now) }
    }

    /// Returns the number of work items that may be claimed now, at most `limit`.
    ///
    /// After a pause for throttling, returns 1 until Apple accepts a call, because otherwise Apple would
    /// throttle all waiting items at once.
    mutating func admit(upTo limit: Int, at now: Moment) -> Int {
        guard pause(at: now) == 0 else { return 0 }
        let isProbe = throttles >= limits.throttlesInARow
        let most = isProbe ? min(limit, 1) : limit
        let admitted = bucket?.take(upTo: most, at: now) ?? most
        if isProbe, admitted > 0 { probe = Pause(from: now, milliseconds: limits.backoff.first) }
        return admitted
    }

    /// Returns admissions that were not used because there was no work to claim.
    mutating func giveBack(_ count: Int) {
        bucket?.giveBack(count)
        probe = nil
    }

    /// Returns the time until enough work items for a claim are admitted.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        max(.milliseconds(pause(at: now)), bucket?.wait(for: count, at: now) ?? .zero)
    }

    /// Returns the end of a client ID's pause; `nil` if it is not paused.
    func rest(of clientID: ClientID, at now: Moment) -> Moment? {
        guard let rest = refusals[clientID]?.rest, rest.remaining(at: now) > 0 else { return nil }
        return rest.end
    }

    /// Returns the client IDs that are paused now, and the earliest end of their pauses.
    func resting(at now: Moment) -> (clientIDs: Set<ClientID>, until: Moment?) {
        let ends = refusals.compactMapValues { refusals in
            refusals.rest.flatMap { $0.remaining(at: now) > 0 ? $0.end : nil }
        }
        return (Set(ends.keys), ends.values.min())
    }

    /// Records that Apple responded to a call.
    mutating func reached(_ clientID: ClientID) {
        failures = 0
        throttles = 0
        outOfReach = nil
        probe = nil
        refusals[clientID] = nil
    }

    /// Records that Apple was unreachable. Returns the time until which all calls pause.
    mutating func missed(at now: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        // Concurrent calls fail together, so they count as one failure.
        if let outOfReach, outOfReach.remaining(at: now) > 0 { return outOfReach.end }
        failures = min(failures + 1, 100)
        let pause = Pause(from: now, milliseconds: limits.backoff.delay(after: failures, using: &generator))
        outOfReach = pause
        return pause.end
    }

    /// Records that Apple throttled a call.
    ///
    /// - Parameter retryAfter: The pause that Apple requests, if it applies to all calls. It has the same
    ///   maximum as all pauses.
    mutating func throttled(
        at now: Moment, retryAfter: Duration?, using generator: inout some RandomNumberGenerator
    ) {
        // Calls that were already in progress when the pause began count as one call.
        if let throttle, throttle.remaining(at: now) > 0 { return }
        probe = nil
        throttles = min(throttles + 1, 100)
        guard throttles >= limits.throttlesInARow else { return }
        let attempts = throttles - limits.throttlesInARow + 1
        let asked = min(retryAfter?.wholeMilliseconds ?? 0, limits.backoff.longest)
        throttle = Pause(
            from: now, milliseconds: max(limits.backoff.delay(after: attempts, using: &generator), asked))
    }

    /// Records that Apple refused a call for this client ID. Returns the time at which the call may be
    /// repeated.
    mutating func refused(_ clientID: ClientID, at now: Moment) -> Moment {
        if refusals.count >= Self.mostRefused { refusals = [:] }
        let count = min((refusals[clientID]?.count ?? 0) + 1, limits.refusalsInARow)
        let pause = Pause(from: now, milliseconds: limits.clientRest)
        refusals[clientID] = Refusals(count: count, rest: count < limits.refusalsInARow ? nil : pause)
        return pause.end
    }

    /// Returns the number of milliseconds until a call may be made.
    private func pause(at now: Moment) -> Int64 {
        [outOfReach, throttle, probe].map { $0?.remaining(at: now) ?? 0 }.max() ?? 0
    }
}

/// A pause that ends immediately if the clock is set back, instead of days later.
private struct Pause: Sendable {
    let end: Moment
    let length: Int64

    init(from start: Moment, milliseconds: Int64) {
        end = start.advanced(byMilliseconds: milliseconds)
        length = milliseconds
    }

    func remaining(at now: Moment) -> Int64 {
        let rest = end.milliseconds - now.milliseconds
        return (0...length).contains(rest) ? rest : 0
    }
}

/// A token bucket: limits the average rate to `perSecond`, and a burst to one second's worth of tokens.
///
/// Does no I/O and reads no clock. The wall clock may jump: a backward jump adds no tokens, and a forward
/// jump fills the bucket at most once.
struct TokenBucket: Sendable {
    let perSecond: Double
    let capacity: Double
    private var level: Double
    private var filledAt: Moment

    /// - Parameter perSecond: The rate, greater than 0. For a rate below 1, the bucket holds one token.
    init(perSecond: Double, at moment: Moment) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate is more than 0")
        self.perSecond = perSecond
        capacity = max(perSecond, 1)
        level = capacity
        filledAt = moment
    }

    /// Takes tokens from the bucket, at most `wanted`, and returns their number.
    mutating func take(upTo wanted: Int, at now: Moment) -> Int {
        fill(at: now)
        let taken = min(max(wanted, 0), Int(level))
        level -= Double(taken)
        return taken
    }

    /// Returns unused tokens to the bucket.
    mutating func giveBack(_ count: Int) {
        level = min(level + Double(count), capacity)
    }

    /// Returns the time until the bucket contains `count` tokens, or until it is full if its capacity is
    /// smaller.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        fill(at: now)
        let missing = min(Double(count), capacity.rounded(.down)) - level
        return missing <= 0 ? .zero : .milliseconds(Int64((missing / perSecond * 1000).rounded(.up)))
    }

    private mutating func fill(at now: Moment) {
        let elapsed = now.milliseconds - filledAt.milliseconds
        if elapsed > 0 { level = min(level + Double(elapsed) / 1000 * perSecond, capacity) }
        filledAt = now
    }
}

/// The pace of a worker, shared by its concurrent work items.
package final class SharedPace: Sendable {
    package struct Admission: Sendable {
        package let count: Int
        /// Time until more work may be claimed.
        package let wait: Duration
    }

    private let pace: Mutex<ApplePace>

    init(_ pace: ApplePace) {
        self.pace = Mutex(pace)
    }

    func update<Value: Sendable>(_ body: (inout ApplePace) -> Value) -> Value {
        pace.withLock { body(&$0) }
    }

    /// - Parameter least: Minimum number of work items that makes another claim worthwhile.
    func admit(upTo limit: Int, least: Int, at moment: Moment) -> Admission {
        update { pace in
            let count = pace.admit(upTo: limit, at: moment)
            return Admission(count: count, wait: pace.wait(for: least, at: moment))
        }
    }
}
