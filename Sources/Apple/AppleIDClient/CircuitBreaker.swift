/// Blocks calls to an endpoint after several consecutive failures, and after a pause admits one call.
///
/// The breaker only decides: it makes no call and reads no clock. Times are durations on a monotonic clock.
struct CircuitBreaker: Sendable, Equatable {
    enum Admission: Sendable, Equatable {
        case admit
        /// Make the only admitted call, which tests the endpoint.
        /// The caller must report its outcome to `end`.
        case probe
        /// Make no call. The caller may retry after this time.
        case refuse(retryAfter: Duration)
    }

    enum Outcome: Sendable, Equatable {
        /// Apple responded, successfully or with a refusal.
        case answered
        /// The endpoint failed.
        case failed
        /// The result is unknown: the caller was cancelled, or sent no request.
        case abandoned
    }

    private enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Duration, pause: Duration)
        case probing(since: Duration, pause: Duration)
    }

    /// Number of consecutive failures that open the circuit.
    static let threshold = 5
    /// The first pause; each failed probe doubles it.
    static let shortestPause: Duration = .seconds(2)
    /// The longest pause. A code expires after five minutes, so this still leaves several attempts.
    static let longestPause: Duration = .seconds(30)
    /// Time after which an unfinished probe is considered lost and another call may probe, so that a lost
    /// call cannot keep the circuit open forever.
    static let longestProbe: Duration = .seconds(60)

    private var state = State.closed(failures: 0)

    var isClosed: Bool { if case .closed = state { true } else { false } }

    mutating func admit(at now: Duration) -> Admission {
        switch state {
        case .closed:
            return .admit
        case .open(let until, _) where now < until:
            return .refuse(retryAfter: until - now)
        case .probing(let since, _) where now - since < Self.longestProbe:
            return .refuse(retryAfter: Self.shortestPause)
        case .open(_, let pause), .probing(_, let pause):
            state = .probing(since: now, pause: pause)
            return .probe
        }
    }

    mutating func end(_ admission: Admission, _ outcome: Outcome, at now: Duration) {
        switch (state, admission, outcome) {
        case (.closed, _, .answered):
            state = .closed(failures: 0)
        case (.closed(let failures), _, .failed):
            let pause = Self.shortestPause
            state =
                failures + 1 < Self.threshold
                ? .closed(failures: failures + 1) : .open(until: now + pause, pause: pause)
        case (.probing, .probe, .answered):
            state = .closed(failures: 0)
        case (.probing(_, let pause), .probe, .failed):
            let longer = min(pause * 2, Self.longestPause)
            state = .open(until: now + longer, pause: longer)
        case (.probing(_, let pause), .probe, .abandoned):
            // The probe proved nothing, so the next caller may probe immediately.
            state = .open(until: now, pause: pause)
        case (.closed, _, .abandoned), (.open, _, _), (.probing, _, _):
            // Calls that began before the circuit opened add no information.
            break
        }
    }
}
