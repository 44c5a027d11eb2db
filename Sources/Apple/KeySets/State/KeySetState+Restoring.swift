extension KeySetState {
    /// Restores a stored set. Returns false when the cached set is at least as new.
    ///
    /// The times in a snapshot are not trusted: they can shorten a duration within its bound, but never
    /// extend it.
    package mutating func restore(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, at now: Int64, jitter: Int64
    ) -> Bool {
        adjust(toClock: now)
        let fetchedAt = min(snapshot.fetchedAt, now)
        if let held, held.fetchedAt >= fetchedAt { return false }
        let freshness = snapshot.freshUntil.subtractingSaturating(snapshot.fetchedAt)
            .clamped(to: 0...bounds.longestFreshness)
        // A snapshot does not say when its fetch began: not earlier than by the time limit of a fetch.
        held = HeldKeySet(
            received: received, askedAt: fetchedAt.subtractingSaturating(bounds.longestFetch),
            fetchedAt: fetchedAt, freshUntil: fetchedAt.addingSaturating(freshness))
        // The set was stored with a clock that was ahead, or the present clock is behind: use the set, and
        // fetch at once.
        let isFromTheFuture = snapshot.fetchedAt > now
        nextFetchAt =
            isFromTheFuture
            ? now : refreshMoment(fetchedAt: fetchedAt, freshness: freshness, jitter: jitter)
        return true
    }
}

/// The result of `RemoteKeySet.restore()`.
public enum RestoreResult: String, Sendable, CaseIterable {
    case restored
    /// There is no store, or it is empty.
    case nothingStored = "nothing_stored"
    /// The stored bytes are not a key set with a usable key, or the cached set is newer.
    case ignored
    case storeFailed = "store_failed"
}
