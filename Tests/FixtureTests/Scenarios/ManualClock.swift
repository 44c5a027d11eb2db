import KeySets
import Synchronization

/// Time that stands still until it is moved.
final class ManualClock: KeySetClock {
    private struct State {
        var now: Int64
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
    }

    private struct Sleeper {
        let deadline: Int64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let state: Mutex<State>

    init(millisecondsSince1970 now: Int64) {
        state = Mutex(State(now: now))
    }

    var millisecondsSince1970: Int64 { state.withLock { $0.now } }

    /// When those who sleep want to be woken.
    var deadlines: [Int64] { state.withLock { $0.sleepers.values.map(\.deadline) } }

    func sleep(untilMilliseconds moment: Int64) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    // Asked under the lock: a cancellation that comes after this finds the sleeper.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if moment <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(deadline: moment, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func move(to moment: Int64) {
        let due = state.withLock { state in
            state.now = max(state.now, moment)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}
