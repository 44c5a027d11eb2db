/// Stops asking an endpoint that has failed several times in a row, and tries again with one call after a pause.
///
/// Decides only: it makes no call and reads no clock. Moments are durations on a clock that never goes back.
struct CircuitBreaker: Sendable, Equatable {
    enum Admission: Sendable, Equatable {
        case admit
        /// Admitted alone, to see whether the endpoint works again. Its end must be told.
        case probe
        /// Try again after this time.
        case refuse(retryAfter: Duration)
    }

    enum Ending: Sendable, Equatable {
        /// Apple answered, whatever it said.
        case answered
        /// Apple's failure.
        case failed
        /// Nothing was learned: the caller gave up, or nothing was sent.
        case abandoned
    }

    private enum State: Sendable, Equatable {
        case closed(failures: Int)
        case open(until: Duration, pause: Duration)
        case probing(since: Duration, pause: Duration)
    }

    /// So many failures in a row open it.
    static let threshold = 5
    /// The first pause; each failed probe doubles it.
    static let shortestPause: Duration = .seconds(2)
    /// The longest. A code lives five minutes, so that even then some tries are left to it.
    static let longestPause: Duration = .seconds(30)
    /// A probe that never ends is forgotten after this time, so that a lost call cannot keep it open for ever.
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

    mutating func end(_ admission: Admission, _ ending: Ending, at now: Duration) {
        switch (state, admission, ending) {
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
            // The next caller probes at once.
            state = .open(until: now, pause: pause)
        case (.closed, _, .abandoned), (.open, _, _), (.probing, _, _):
            // Calls that began before it opened say nothing new.
            break
        }
    }
}
