import AppleAccounts
import KeySets

/// Storage that outlives a restart.
protocol ScenarioStorage: Sendable {
    /// Opens the storage for one process of the service.
    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    )
    /// Closes the storage at the end of the process.
    func close() async
}
