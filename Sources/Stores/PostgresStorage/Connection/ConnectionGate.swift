/// Decides which caller may try to connect while the server cannot be reached. Does no I/O and reads no
/// clock.
///
/// After a failure there is a pause without attempts, then a single attempt. All other callers get the last
/// error at once: requests do not queue up behind time-outs, and a server that has just started is not
/// flooded.
struct ConnectionGate<Failure: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action {
        case connect
        case fail(Failure)
    }

    /// The longest pause between two attempts, so that the service is back soon after the server is.
    static var longestPause: Duration { .seconds(1) }
    static var shortestPause: Duration { .milliseconds(50) }

    private var failure: Failure?
    private var failures = 0
    private var nextAttempt: Instant?
    private var isTrying = false

    init() {}

    mutating func ask(at now: Instant) -> Action {
        guard let failure, let nextAttempt else { return .connect }
        guard !isTrying, now >= nextAttempt else { return .fail(failure) }
        isTrying = true
        return .connect
    }

    mutating func succeeded() {
        self = ConnectionGate()
    }

    /// - Parameter jitter: From 0 to 1, so that replicas that lost the server together do not reconnect
    ///   together.
    mutating func failed(_ failure: Failure, at now: Instant, jitter: Double) {
        self.failure = failure
        isTrying = false
        failures = min(failures + 1, 10)
        let pause = min(Self.shortestPause * (1 << (failures - 1)), Self.longestPause)
        nextAttempt = now + pause * (0.5 + jitter / 2)
    }
}
