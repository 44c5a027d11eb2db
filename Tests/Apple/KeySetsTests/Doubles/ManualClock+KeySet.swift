import KeySets
import TestSupport

extension ManualClock {
    /// Makes a key set that reads this clock.
    func keySet(_ source: StubSource, snapshots: (any KeySetSnapshotStore)? = nil) -> RemoteKeySet {
        RemoteKeySet(source: source, snapshots: snapshots, clock: self, jitter: { 0 })
    }
}
