extension KeySetState {
    /// Adopts a set that another process has stored, so that many replicas send few more requests to Apple
    /// than one process would.
    ///
    /// A newer set is always adopted. It ends the fetch when it is fresh, when it has the requested key, or
    /// when it was fetched so recently that the look-up cooldown still runs.
    package mutating func adopt(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, for fetch: KeySetFetch, at now: Int64,
        jitter: Int64
    ) -> StoredSetAction {
        adjust(toClock: now)
        guard isRunning(fetch.number) else { return .wakeWaiters }
        // A set from the future would be newer than every other set, and would prevent every later fetch.
        guard snapshot.fetchedAt <= now, restore(received, from: snapshot, at: now, jitter: jitter) else {
            return .ask(fetch)
        }
        guard satisfies(fetch, at: now) else { return .ask(conditional(fetch)) }
        running = nil
        failures = 0
        record.fetches.adopted &+= 1
        // The cooldown begins at the time when the set was fetched from Apple. The other process has looked for
        // keys of its own callers, so the set proves nothing about the keys that callers here look for, unless
        // their tokens are older.
        if fetch.keyID != nil { lookUpFetchAt = snapshot.fetchedAt }
        return .wakeWaiters
    }

    private func satisfies(_ fetch: KeySetFetch, at now: Int64) -> Bool {
        guard let keyID = fetch.keyID else { return now < nextFetchAt }
        guard usableKey(for: keyID, at: now) == nil, let held else { return true }
        return now < held.fetchedAt.addingSaturating(bounds.lookUpCooldown)
    }

    /// Uses the entity tag of the adopted set: a 304 to the old tag would confirm the wrong set.
    private mutating func conditional(_ fetch: KeySetFetch) -> KeySetFetch {
        let fetch = KeySetFetch(
            number: fetch.number, entityTag: fetch.keyID == nil ? held?.received.entityTag : nil,
            giveUpAt: fetch.giveUpAt, keyID: fetch.keyID)
        running = fetch
        return fetch
    }
}
