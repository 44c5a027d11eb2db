import AppleAccounts
import KeySets

/// What outlives a restart.
protocol ScenarioStorage: Sendable {
    /// Opens it for one life of the service.
    func open() async throws -> (accounts: any AccountStore & GrantStore, snapshots: any KeySetSnapshotStore)
    /// Ends that life.
    func close() async
}
