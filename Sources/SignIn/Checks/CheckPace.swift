import AppleAccounts

/// When the daily check may ask: a bounded rate, nobody while Apple is out of reach, and not for a client ID
/// whose calls Apple refuses. Pure.
struct CheckPace: Sendable {
    /// How long a client ID rests after Apple refused its calls. The operator has to put it right.
    static let clientRest: Int64 = 600_000
    /// Bounds what a deployment with ever new client IDs could make it remember.
    static let mostResting = 1024

    /// How many such answers without another between them make a pause.
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

    /// How many may be claimed now, at most `room`.
    mutating func admit(upTo room: Int, at now: Moment) -> Int {
        pause(at: now) > 0 ? 0 : bucket.take(upTo: room, at: now)
    }

    /// What was admitted and not there to be claimed.
    mutating func giveBack(_ count: Int) {
        bucket.giveBack(count)
    }

    /// How long until as many as are worth a claim may be asked for.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        max(.milliseconds(pause(at: now)), bucket.wait(for: count, at: now))
    }

    /// Until when this client ID must not ask; `nil` when it may.
    func rest(of clientID: ClientID, at now: Moment) -> Moment? {
        guard let pause = resting[clientID], pause.remaining(at: now) > 0 else { return nil }
        return pause.end
    }

    /// Apple answered.
    mutating func reached(_ clientID: ClientID) {
        failures = 0
        throttles = 0
        outOfReach = nil
        resting[clientID] = nil
    }

    /// Apple could not be asked. Returns until when nobody tries.
    mutating func missed(at now: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        // Several that were on their way fail together, and are one failure.
        if let outOfReach, outOfReach.remaining(at: now) > 0 { return outOfReach.end }
        failures = min(failures + 1, 100)
        let pause = Pause(from: now, milliseconds: backoff.delay(after: failures, using: &generator))
        outOfReach = pause
        return pause.end
    }

    /// Apple said to come less often. One such answer concerns one user, several in a row this service.
    mutating func throttled(at now: Moment, using generator: inout some RandomNumberGenerator) {
        throttles = min(throttles + 1, 100)
        guard throttles >= Self.throttlesInARow else { return }
        let attempts = throttles - Self.throttlesInARow + 1
        throttle = Pause(from: now, milliseconds: backoff.delay(after: attempts, using: &generator))
    }

    /// Apple refused the calls of this client ID. Returns until when it rests.
    mutating func refused(_ clientID: ClientID, at now: Moment) -> Moment {
        if resting.count >= Self.mostResting { resting = [:] }
        let pause = Pause(from: now, milliseconds: Self.clientRest)
        resting[clientID] = pause
        return pause.end
    }

    /// Milliseconds for which nobody may ask.
    private func pause(at now: Moment) -> Int64 {
        max(outOfReach?.remaining(at: now) ?? 0, throttle?.remaining(at: now) ?? 0)
    }
}

/// A stretch of time on a clock that may be set back meanwhile: it then ends at once, and not days later.
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
