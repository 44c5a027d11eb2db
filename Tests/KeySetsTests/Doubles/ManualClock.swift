import KeySets
import Synchronization

/// A clock that tests turn by hand.
final class ManualClock: KeySetClock {
    private struct Sleeper {
        let until: Int64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Int64
        var nextID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
    }

    private let state: Mutex<State>

    init(_ now: Int64 = DrivenKeySet.start) {
        state = Mutex(State(now: now))
    }

    var millisecondsSince1970: Int64 { state.withLock { $0.now } }

    func sleep(untilMilliseconds moment: Int64) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if moment <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(until: moment, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation
                .resume(throwing: CancellationError())
        }
    }

    /// Sets the clock, forwards or back, and wakes who slept until then.
    func set(to now: Int64) {
        let woken = state.withLock { state in
            state.now = now
            let woken = state.sleepers.filter { $0.value.until <= now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns when somebody sleeps until exactly that moment.
    func sleeper(until moment: Int64) async throws {
        try await eventually { state.withLock { $0.sleepers.values.contains { $0.until == moment } } }
    }
}
