import AppleAccounts
import StorageConformance
import Synchronization

/// A store whose commits wait for the test, one by one, and fail when the test requests it.
final class HeldStore: RelayingStore {
    private struct State {
        var batches: [[AccountCommand]] = []
        var isOpen = false
        var permits = 0
        var failures: [StorageError] = []
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    let reference = ReferenceStore()
    private let state = Mutex(State())

    var behind: any AccountStore { reference }

    /// The received batches, in order.
    var batches: [[AccountCommand]] { state.withLock { $0.batches } }

    /// Lets this many commits continue.
    func letGo(_ count: Int = 1) {
        for _ in 0..<count {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.held.isEmpty else {
                    state.permits += 1
                    return nil
                }
                return state.held.removeFirst()
            }
            continuation?.resume()
        }
    }

    /// Lets this and all later commits continue.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Makes the next commit fail as a whole.
    func failNext(_ error: StorageError) {
        state.withLock { $0.failures.append(error) }
    }

    /// Returns when this many batches have arrived.
    func arrival(of count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.batches.count < count else { return true }
                state.arrivals.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        let waiters = state.withLock { state in
            state.batches.append(commands)
            let ready = state.arrivals.filter { $0.count <= state.batches.count }
            state.arrivals.removeAll { $0.count <= state.batches.count }
            return ready.map(\.1)
        }
        for waiter in waiters { waiter.resume() }
        await withCheckedContinuation { continuation in
            let mayGo = state.withLock { state in
                if state.isOpen { return true }
                if state.permits > 0 {
                    state.permits -= 1
                    return true
                }
                state.held.append(continuation)
                return false
            }
            if mayGo { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
        return try await behind.commit(commands)
    }
}
