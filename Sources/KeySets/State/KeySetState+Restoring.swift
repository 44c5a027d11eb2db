extension KeySetState {
    /// Takes over a stored set. False when one that is at least as new is at hand.
    ///
    /// The moments of a snapshot are somebody else's: they can shorten what the bounds allow, never stretch
    /// it.
    package mutating func restore(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, at now: Int64, jitter: Int64
    ) -> Bool {
        notice(now)
        let fetchedAt = min(snapshot.fetchedAt, now)
        if let held, held.fetchedAt >= fetchedAt { return false }
        let freshness = snapshot.freshUntil.subtractingSaturating(snapshot.fetchedAt)
            .clamped(to: 0...bounds.longestFreshness)
        held = HeldKeySet(
            received: received, fetchedAt: fetchedAt, freshUntil: fetchedAt.addingSaturating(freshness))
        // Stored under a clock that ran ahead, or read under one that lags: serve it, and ask at once.
        let isFromTheFuture = snapshot.fetchedAt > now
        nextFetchAt =
            isFromTheFuture
            ? now : refreshMoment(fetchedAt: fetchedAt, freshness: freshness, jitter: jitter)
        return true
    }
}
