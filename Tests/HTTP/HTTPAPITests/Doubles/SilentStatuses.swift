import AppleAccounts
import AuthorizationServer
import StorageConformance

/// A store that does not return the status of an account until it is opened. All other calls return at once.
final class SilentStatuses: RelayingStore, RelayingAuthorizationStore {
    let behind: any AccountStore
    let grantsBehind: any AuthorizationStore
    private let (silence, ending) = AsyncStream.makeStream(of: Never.self)

    init() {
        let store = ReferenceStore()
        (behind, grantsBehind) = (store, store)
    }

    func open() { ending.finish() }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await behind.commit(commands)
    }

    func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        for await _ in silence {}
        return try await grantsBehind.status(of: account, app: app)
    }
}
