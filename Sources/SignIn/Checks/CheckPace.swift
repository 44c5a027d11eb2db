import AppleAccounts

/// When daily checks may call Apple: at a bounded rate, not while Apple is unreachable, and not for a client
/// ID whose calls Apple refuses. Does no I/O and reads no clock.
struct CheckPace: Sendable {
    /// Milliseconds for which a client ID pauses after Apple refused its calls. The operator has to correct
    /// the configuration.
    static let clientRest: Int64 = 600_000
    /// Bounds the memory for a deployment with many client IDs.
    static let mostResting = 1024

    /// After this number of throttled calls in a row all checks pause.
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

    /// How many checks may be claimed now, at most `limit`.
    mutating func admit(upTo limit: Int, at now: Moment) -> Int {
        pause(at: now) > 0 ? 0 : bucket.take(upTo: limit, at: now)
    }

    /// Returns what was admitted and could not be claimed.
    mutating func giveBack(_ count: Int) {
        bucket.giveBack(count)
    }

    /// How long until enough checks for a claim may be made.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        max(.milliseconds(pause(at: now)), bucket.wait(for: count, at: now))
    }

    /// Until when this client ID must not call Apple, or `nil` when it may.
    func rest(of clientID: ClientID, at now: Moment) -> Moment? {
        guard let pause = resting[clientID], pause.remaining(at: now) > 0 else { return nil }
        return pause.end
    }

    /// Apple responded.
    mutating func reached(_ clientID: ClientID) {
        failures = 0
        throttles = 0
        outOfReach = nil
        resting[clientID] = nil
    }

    /// Apple could not be called. Returns until when all checks pause.
    mutating func missed(at now: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        // Calls that were on their way fail together, and count as one failure.
        if let outOfReach, outOfReach.remaining(at: now) > 0 { return outOfReach.end }
        failures = min(failures + 1, 100)
        let pause = Pause(from: now, milliseconds: backoff.delay(after: failures, using: &generator))
        outOfReach = pause
        return pause.end
    }

    /// Apple throttled a call. One such response concerns one user; several in a row concern this service.
    mutating func throttled(at now: Moment, using generator: inout some RandomNumberGenerator) {
        throttles = min(throttles + 1, 100)
        guard throttles >= Self.throttlesInARow else { return }
        let attempts = throttles - Self.throttlesInARow + 1
        throttle = Pause(from: now, milliseconds: backoff.delay(after: attempts, using: &generator))
    }

    /// Apple refused the calls of this client ID. Returns until when it pauses.
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

/// A pause on a clock that may be set back meanwhile: it then ends at once, and not days later.
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
