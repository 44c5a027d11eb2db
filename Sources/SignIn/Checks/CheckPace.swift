import AppleAccounts

/// Bounds the daily checks' calls of Apple: at a limited rate, not while Apple is unreachable, and not for a
/// client ID whose calls Apple refuses. Does no I/O and reads no clock.
struct CheckPace: Sendable {
    /// Milliseconds for which a client ID pauses after Apple refused its calls. The operator has to correct
    /// the configuration.
    static let clientRest: Int64 = 600_000
    /// Number of client IDs that may pause. Bounds the memory for a deployment with many client IDs.
    static let mostResting = 1024

    /// Number of throttled calls in a row after which all checks pause.
    static let throttlesInARow = 3

    private var bucket: TokenBucket
    private let backoff = Backoff(first: .seconds(5), longest: .seconds(300))
    private var failures = 0
    private var throttles = 0
    private var outOfReach: Pause?
    private var throttle: Pause?
    private var resting: [ClientID: Pause] = [:]

    init(perSecond: Double, at now: Moment) {
        bucket = TokenBucket(perSecond: perSecond, at: now)
    }

    /// Returns the number of checks that may be claimed at this moment, at most `limit`.
    mutating func admit(upTo limit: Int, at now: Moment) -> Int {
        pause(at: now) > 0 ? 0 : bucket.take(upTo: limit, at: now)
    }

    /// Returns checks that were admitted and could not be claimed.
    mutating func giveBack(_ count: Int) {
        bucket.giveBack(count)
    }

    /// Returns the time until enough checks for a claim may be made.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        max(.milliseconds(pause(at: now)), bucket.wait(for: count, at: now))
    }

    /// Returns the moment until which this client ID must not call Apple, or `nil` when it may.
    func rest(of clientID: ClientID, at now: Moment) -> Moment? {
        guard let pause = resting[clientID], pause.remaining(at: now) > 0 else { return nil }
        return pause.end
    }

    /// Notes that Apple responded.
    mutating func reached(_ clientID: ClientID) {
        failures = 0
        throttles = 0
        outOfReach = nil
        resting[clientID] = nil
    }

    /// Notes that Apple could not be called. Returns the moment until which all checks pause.
    mutating func missed(at now: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        // Calls that were under way fail together, and count as one failure.
        if let outOfReach, outOfReach.remaining(at: now) > 0 { return outOfReach.end }
        failures = min(failures + 1, 100)
        let pause = Pause(from: now, milliseconds: backoff.delay(after: failures, using: &generator))
        outOfReach = pause
        return pause.end
    }

    /// Notes that Apple throttled a call. One such response concerns one user; several in a row concern this
    /// service.
    mutating func throttled(at now: Moment, using generator: inout some RandomNumberGenerator) {
        throttles = min(throttles + 1, 100)
        guard throttles >= Self.throttlesInARow else { return }
        let attempts = throttles - Self.throttlesInARow + 1
        throttle = Pause(from: now, milliseconds: backoff.delay(after: attempts, using: &generator))
    }

    /// Notes that Apple refused the calls of this client ID. Returns the moment until which the client ID
    /// pauses.
    mutating func refused(_ clientID: ClientID, at now: Moment) -> Moment {
        if resting.count >= Self.mostResting { resting = [:] }
        let pause = Pause(from: now, milliseconds: Self.clientRest)
        resting[clientID] = pause
        return pause.end
    }

    /// Milliseconds for which no check may be made.
    private func pause(at now: Moment) -> Int64 {
        max(outOfReach?.remaining(at: now) ?? 0, throttle?.remaining(at: now) ?? 0)
    }
}

/// A pause on a clock that may be set back meanwhile: the pause then ends at once, and not days later.
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
