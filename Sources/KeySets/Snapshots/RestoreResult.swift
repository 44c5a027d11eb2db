/// What became of the stored snapshot when a remote key set started.
public enum RestoreResult: String, Sendable, CaseIterable {
    case restored
    /// There is no store, or nothing in it.
    case nothingStored = "nothing_stored"
    /// What was stored is no key set with a usable key, or a newer set is already at hand.
    case ignored
    case storeFailed = "store_failed"
}
