import ServiceLifecycle
import Synchronization

/// Tells readers that wait for account events when there are new ones. Knows no event, only the last sequence
/// number.
///
/// It hears of the commits of this process, and is told of those of others. A waiter ends with a newer number, with the cancellation of its
/// task, and with the shutdown of its service.
public final class EventFeed: Sendable {
    private struct State {
        var latest: Int64 = 0
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var isClosed = false
    }

    private enum Waiter {
        case announced
        case waiting(after: Int64, CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State())
    private let mostWaiters: Int

    /// - Parameter mostWaiters: Past it a waiter is refused. An empty page at once would make it ask again at once.
    public init(mostWaiters: Int = 1024) {
        self.mostWaiters = mostWaiters
    }

    /// How many wait now.
    var waiterCount: Int {
        state.withLock { state in
            state.waiters.values.count { waiter in
                guard case .waiting = waiter else { return false }
                return true
            }
        }
    }

    /// Wakes everybody who waits for more than what they have seen.
    public func advance(to sequence: Int64) {
        release { state in
            state.latest = max(state.latest, sequence)
            let latest = state.latest
            return state.waiters.compactMap { id, waiter in
                guard case .waiting(let after, _) = waiter, after < latest else { return nil }
                return id
            }
        }
    }

    /// Wakes everybody, for good.
    public func close() {
        release { state in
            state.isClosed = true
            return Array(state.waiters.keys)
        }
    }

    /// Returns the latest number when it is after this one, `nil` when there is no use in waiting any longer.
    ///
    /// - Throws: `OverloadedError` when as many wait as may.
    func waitForMore(after sequence: Int64) async throws(OverloadedError) -> Int64? {
        let announced = try state.withLock { state throws(OverloadedError) -> Int? in
            guard !state.isClosed else { return nil }
            guard state.waiters.count < mostWaiters else { throw OverloadedError() }
            defer { state.nextWaiter += 1 }
            state.waiters[state.nextWaiter] = .announced
            return state.nextWaiter
        }
        guard let id = announced else { return nil }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                let mayGo = state.withLock { state in
                    // Cancelled before it came to waiting, or nothing to wait for.
                    guard state.waiters[id] != nil, state.latest <= sequence else { return true }
                    state.waiters[id] = .waiting(after: sequence, continuation)
                    return false
                }
                if mayGo { continuation.resume() }
            }
        } onCancelOrGracefulShutdown: {
            self.release { _ in [id] }
        }
        return state.withLock { state in
            state.waiters[id] = nil
            return !state.isClosed && state.latest > sequence ? state.latest : nil
        }
    }

    private func release(_ choose: (inout State) -> [Int]) {
        let continuations = state.withLock { state in
            choose(&state).compactMap { id -> CheckedContinuation<Void, Never>? in
                guard case .waiting(_, let continuation) = state.waiters.removeValue(forKey: id) else {
                    return nil
                }
                return continuation
            }
        }
        for continuation in continuations { continuation.resume() }
    }
}
