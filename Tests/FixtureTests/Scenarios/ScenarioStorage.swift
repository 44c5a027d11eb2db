import AppleAccounts
import KeySets

/// What outlives a restart.
protocol ScenarioStorage: Sendable {
    /// Opens it for one life of the service; the one before has ended.
    func open() async throws -> (accounts: any AccountStore, snapshots: any KeySetSnapshotStore)
    /// Removes it for good.
    func remove() throws
}
