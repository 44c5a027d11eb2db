import AppleAccounts
import Synchronization

/// Bounds a worker's calls of Apple: at a limited rate, not while Apple is unreachable or throttles, and not
/// for a client ID whose calls Apple refuses. Does no I/O and reads no clock.
struct ApplePace: Sendable {
    /// The bounds of one worker.
    struct Limits: Sendable {
        /// The pauses while Apple is unreachable or throttles.
        let backoff: Backoff
        /// Number of throttled calls in a row after which all calls pause.
        let throttlesInARow: Int
        /// Number of refused calls in a row after which a client ID pauses.
        let refusalsInARow: Int
        /// Milliseconds for which a client ID pauses. The operator has to correct the configuration.
        let clientRest: Int64
    }

    private struct Refusals {
        var count: Int
        var rest: Pause?
    }

    /// Number of client IDs with refusals. Bounds the memory for a deployment with many client IDs.
    static let mostRefused = 1024

    private let limits: Limits
    private var bucket: TokenBucket?
    private var failures = 0
    private var throttles = 0
    private var outOfReach: Pause?
    private var throttle: Pause?
    /// Runs while one call tests whether Apple still throttles.
    private var probe: Pause?
    private var refusals: [ClientID: Refusals] = [:]

    /// - Parameter perSecond: `nil` for an unlimited rate.
    init(_ limits: Limits, perSecond: Double?, at now: Moment) {
        self.limits = limits
        bucket = perSecond.map { TokenBucket(perSecond: $0, at: now) }
    }

    /// Returns the number of pieces that may be claimed at this moment, at most `limit`.
    ///
    /// After a pause by throttling, returns 1 until Apple accepts a
    /// call: otherwise all waiting pieces would be throttled together.
    mutating func admit(upTo limit: Int, at now: Moment) -> Int {
        guard pause(at: now) == 0 else { return 0 }
        let isProbe = throttles >= limits.throttlesInARow
        let most = isProbe ? min(limit, 1) : limit
        let admitted = bucket?.take(upTo: most, at: now) ?? most
        if isProbe, admitted > 0 { probe = Pause(from: now, milliseconds: limits.backoff.first) }
        return admitted
    }

    /// Returns admitted pieces that could not be claimed.
    mutating func giveBack(_ count: Int) {
        bucket?.giveBack(count)
        probe = nil
    }

    /// Returns the time until enough pieces for a claim are admitted.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        max(.milliseconds(pause(at: now)), bucket?.wait(for: count, at: now) ?? .zero)
    }

    /// Returns the end of the pause of this client ID; `nil` without a pause.
    func rest(of clientID: ClientID, at now: Moment) -> Moment? {
        guard let rest = refusals[clientID]?.rest, rest.remaining(at: now) > 0 else { return nil }
        return rest.end
    }

    /// Returns the client IDs that pause at this moment, and the earliest end of their pauses.
    func resting(at now: Moment) -> (clientIDs: Set<ClientID>, until: Moment?) {
        let ends = refusals.compactMapValues { refusals in
            refusals.rest.flatMap { $0.remaining(at: now) > 0 ? $0.end : nil }
        }
        return (Set(ends.keys), ends.values.min())
    }

    /// Notes that Apple responded.
    mutating func reached(_ clientID: ClientID) {
        failures = 0
        throttles = 0
        outOfReach = nil
        probe = nil
        refusals[clientID] = nil
    }

    /// Notes that Apple could not be called. Returns the moment until which all calls pause.
    mutating func missed(at now: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        // Concurrent calls fail together, and count as one failure.
        if let outOfReach, outOfReach.remaining(at: now) > 0 { return outOfReach.end }
        failures = min(failures + 1, 100)
        let pause = Pause(from: now, milliseconds: limits.backoff.delay(after: failures, using: &generator))
        outOfReach = pause
        return pause.end
    }

    /// Notes that Apple throttled a call.
    ///
    /// - Parameter retryAfter: The time that Apple requests,
    ///   if it concerns all calls. Bounded like the pauses.
    mutating func throttled(
        at now: Moment, retryAfter: Duration?, using generator: inout some RandomNumberGenerator
    ) {
        // Calls in progress at the start of the pause count as one call.
        if let throttle, throttle.remaining(at: now) > 0 { return }
        probe = nil
        throttles = min(throttles + 1, 100)
        guard throttles >= limits.throttlesInARow else { return }
        let attempts = throttles - limits.throttlesInARow + 1
        let asked = min(retryAfter?.wholeMilliseconds ?? 0, limits.backoff.longest)
        throttle = Pause(
            from: now, milliseconds: max(limits.backoff.delay(after: attempts, using: &generator), asked))
    }

    /// Notes that Apple refused a call of this client ID. Returns the moment at which the call may be
    /// repeated.
    mutating func refused(_ clientID: ClientID, at now: Moment) -> Moment {
        if refusals.count >= Self.mostRefused { refusals = [:] }
        let count = min((refusals[clientID]?.count ?? 0) + 1, limits.refusalsInARow)
        let pause = Pause(from: now, milliseconds: limits.clientRest)
        refusals[clientID] = Refusals(count: count, rest: count < limits.refusalsInARow ? nil : pause)
        return pause.end
    }

    /// Milliseconds for which no call may be made.
    private func pause(at now: Moment) -> Int64 {
        [outOfReach, throttle, probe].map { $0?.remaining(at: now) ?? 0 }.max() ?? 0
    }
}

/// A pause that ends at once if the clock is set back, and not days later.
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

/// Bounds a rate: on average `perSecond`, and at most the tokens of one second at once.
///
/// Does no I/O and reads no clock. The wall clock may jump: a jump back adds no tokens, a jump ahead fills
/// the bucket at most once.
struct TokenBucket: Sendable {
    let perSecond: Double
    let capacity: Double
    private var level: Double
    private var filledAt: Moment

    /// - Parameter perSecond: More than 0. With less than 1 the bucket holds one token and fills slowly.
    init(perSecond: Double, at moment: Moment) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate is more than 0")
        self.perSecond = perSecond
        capacity = max(perSecond, 1)
        level = capacity
        filledAt = moment
    }

    /// Takes the tokens in the bucket, at most `wanted`.
    mutating func take(upTo wanted: Int, at now: Moment) -> Int {
        fill(at: now)
        let taken = min(max(wanted, 0), Int(level))
        level -= Double(taken)
        return taken
    }

    /// Returns tokens that were taken and not used.
    mutating func giveBack(_ count: Int) {
        level = min(level + Double(count), capacity)
    }

    /// Returns the time until the bucket has `count` tokens, or until it is full when it holds fewer.
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

/// The pace of a worker with concurrent pieces.
package final class SharedPace: Sendable {
    package struct Admission: Sendable {
        package let count: Int
        /// Time until more may be claimed.
        package let wait: Duration
    }

    private let pace: Mutex<ApplePace>

    init(_ pace: ApplePace) {
        self.pace = Mutex(pace)
    }

    func update<Value: Sendable>(_ body: (inout ApplePace) -> Value) -> Value {
        pace.withLock { body(&$0) }
    }

    /// - Parameter least: Smallest number of pieces that is worth another look.
    func admit(upTo limit: Int, least: Int, at moment: Moment) -> Admission {
        update { pace in
            let count = pace.admit(upTo: limit, at: moment)
            return Admission(count: count, wait: pace.wait(for: least, at: moment))
        }
    }
}
