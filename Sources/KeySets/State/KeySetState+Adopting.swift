extension KeySetState {
    /// Takes over what another process has stored since, if it answers what the fetch is for, so that many replicas
    /// ask Apple little more often than one.
    ///
    /// A newer set is taken in any case, because it is newer. It ends the fetch when it is fresh, or when it has the
    /// key that is looked for, or when Apple was asked for it so lately that the cool-down of all of them still runs.
    package mutating func adopt(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, for fetch: KeySetFetch, at now: Int64,
        jitter: Int64
    ) -> StoredSetAction {
        notice(now)
        guard isRunning(fetch.number) else { return .wakeWaiters }
        // One from the future would be newer than every other, and keep everybody from asking.
        guard snapshot.fetchedAt <= now, restore(received, from: snapshot, at: now, jitter: jitter) else {
            return .ask(fetch)
        }
        isAdopted = true
        guard answers(fetch, at: now) else { return .ask(conditional(fetch)) }
        running = nil
        failures = 0
        record.fetches.adopted &+= 1
        // The cool-down begins when Apple was asked.
        if fetch.keyID != nil { lookUpFetchAt = snapshot.fetchedAt }
        return .wakeWaiters
    }

    /// Whether Apple was asked for an adopted set so lately that a key that is not in it is not Apple's.
    func isAskedLately(at now: Int64) -> Bool {
        guard let held else { return false }
        return now < held.fetchedAt.addingSaturating(bounds.lookUpCooldown)
    }

    private func answers(_ fetch: KeySetFetch, at now: Int64) -> Bool {
        guard let keyID = fetch.keyID else { return now < nextFetchAt }
        return usableKey(for: keyID, at: now) != nil || isAskedLately(at: now)
    }

    /// With the tag of the set that is at hand now: a 304 to the old one's would confirm the wrong set.
    private mutating func conditional(_ fetch: KeySetFetch) -> KeySetFetch {
        let fetch = KeySetFetch(
            number: fetch.number, entityTag: fetch.keyID == nil ? held?.received.entityTag : nil,
            giveUpAt: fetch.giveUpAt, keyID: fetch.keyID)
        running = fetch
        return fetch
    }
}
