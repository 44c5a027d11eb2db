/// The result of `RemoteKeySet.restore()`.
public enum RestoreResult: String, Sendable, CaseIterable {
    case restored
    /// There is no store, or it is empty.
    case nothingStored = "nothing_stored"
    /// The stored bytes are not a key set with a usable key, or the cached set is newer.
    case ignored
    case storeFailed = "store_failed"
}
