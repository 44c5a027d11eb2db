import Synchronization

/// Wakes a worker immediately when there is work. A signal stays set until the worker waits, and several
/// signals count as one signal.
///
/// The signal reaches only workers of this process. A lost signal merely delays work, because workers also
/// look for work at due times.
package final class WakeupSignal: Sendable {
    private struct State {
        var isSet = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func wake() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isSet = state.waiters.isEmpty
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns after a signal, after `time`, or when the task is cancelled. If `time` is `nil`, the wait has
    /// no limit.
    package func wait(atMost time: Duration?, on clock: any Clock<Duration>) async {
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
                let returnsAtOnce = state.withLock { state in
                    // A cancelled waiter must leave the signal to the next waiter.
                    if Task.isCancelled { return true }
                    if state.isSet {
                        state.isSet = false
                        return true
                    }
                    state.waiters[id] = continuation
                    return false
                }
                if returnsAtOnce { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// The signals of all workers. When a commit in this process creates work for a worker, it sends that
/// worker's signal.
package final class WorkerSignals: Sendable {
    private let signals = Mutex<[ObjectIdentifier: WakeupSignal]>([:])

    package init() {}

    /// Returns a worker's signal. Every call returns the same signal.
    package subscript(worker: any Worker.Type) -> WakeupSignal {
        signals.withLock { signals in
            let key = ObjectIdentifier(worker)
            if let signal = signals[key] { return signal }
            let signal = WakeupSignal()
            signals[key] = signal
            return signal
        }
    }
}
