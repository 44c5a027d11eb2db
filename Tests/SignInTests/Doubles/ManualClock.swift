import Synchronization

/// A clock that stands still until it is moved.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (deadline: Instant, CheckedContinuation<Void, any Error>)] = [:]
        var nextSleeper = 0
        var arrivals: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            defer { state.nextSleeper += 1 }
            return state.nextSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let arrivals = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                    guard deadline > state.now, !Task.isCancelled else { return nil }
                    state.sleepers[id] = (deadline, continuation)
                    defer { state.arrivals = [] }
                    return state.arrivals
                }
                guard let arrivals else { return continuation.resume() }
                for arrival in arrivals { arrival.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.1.resume(throwing: CancellationError())
        }
    }

    /// Returns when somebody sleeps.
    func sleeper() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.sleepers.isEmpty else { return true }
                state.arrivals.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let ids = state.sleepers.filter { $0.value.deadline <= state.now }.keys
            return ids.compactMap { state.sleepers.removeValue(forKey: $0)?.1 }
        }
        for continuation in due { continuation.resume() }
    }
}
