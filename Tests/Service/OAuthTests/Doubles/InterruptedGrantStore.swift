import AuthorizationServer
import StorageConformance
import Synchronization

/// A store of grants before whose next transaction something else happens, and is durable.
final class InterruptedGrantStore: RelayingAuthorizationStore {
    let reference: ReferenceStore
    private let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ reference: ReferenceStore) {
        self.reference = reference
    }

    var grantsBehind: any AuthorizationStore { reference }

    /// Makes this happen before the next transaction, and not again.
    func interrupt(_ body: @escaping @Sendable () async throws -> Void) {
        interruption.withLock { $0 = body }
    }

    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        let body = interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption
        }
        guard let body else { return reference.commit(commands, completion: completion) }
        // The queue that commits must not wait for a command of another queue.
        Task {
            do {
                try await body()
                reference.commit(commands, completion: completion)
            } catch {
                completion(.failure(error))
            }
        }
    }
}
