import Synchronization

/// Wakes a worker at once when there is something to do. A ring while nobody waits is kept, and two are one.
///
/// It is heard in this process only, and a lost one costs nothing but time: workers look at their due times
/// too.
public final class Doorbell: Sendable {
    private struct State {
        var isRung = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public func ring() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isRung = state.waiters.isEmpty
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when it rings, when the time is over, or when the task is cancelled. `nil` waits without end.
    func wait(atMost time: Duration?, on clock: any Clock<Duration>) async {
        guard let time else { return await wait() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await clock.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGo = state.withLock { state in
                    // A cancelled waiter must leave the ring to the next one.
                    if Task.isCancelled { return true }
                    if state.isRung {
                        state.isRung = false
                        return true
                    }
                    state.waiters[id] = continuation
                    return false
                }
                if mayGo { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
