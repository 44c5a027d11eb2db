import AuthorizationServer
import StorageConformance
import Synchronization

/// A store of grants whose commits wait for the test, and fail when the test requests it.
final class HeldGrantStore: RelayingAuthorizationStore {
    private struct State {
        var batches: [[GrantCommand]] = []
        var isOpen = false
        var failures: [any Error] = []
        var held: [@Sendable () -> Void] = []
    }

    let reference = ReferenceStore()
    private let state = Mutex(State())

    var grantsBehind: any AuthorizationStore { reference }

    /// The received batches, in order.
    var batches: [[GrantCommand]] { state.withLock { $0.batches } }

    /// Lets the waiting commit continue.
    func letGo() {
        let held = state.withLock { $0.held.removeFirst() }
        held()
    }

    /// Lets this and all later commits continue.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for commit in held { commit() }
    }

    /// Makes the next commit fail as a whole.
    func failNext(_ error: any Error) {
        state.withLock { $0.failures.append(error) }
    }

    /// Returns when this many batches have arrived.
    func arrival(of count: Int) async {
        while batches.count < count { await Task.yield() }
    }

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        let commit: @Sendable () -> Void = { [self] in
            let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
            if let failure { return completion(.failure(failure)) }
            grantsBehind.commit(commands, completion: completion)
        }
        let isOpen = state.withLock { state in
            state.batches.append(commands)
            if !state.isOpen { state.held.append(commit) }
            return state.isOpen
        }
        if isOpen { commit() }
    }
}
