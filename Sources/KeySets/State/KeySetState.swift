package import JOSE

/// All decisions of the key-set cache. It does no I/O and reads no clock; its owner executes the actions that
/// it returns.
///
/// `now` is wall-clock time in milliseconds since 1970. The clock may be set forwards or back between two
/// calls; the effect is limited to a duration of `KeySetBounds`.
package struct KeySetState: Sendable {
    let bounds: KeySetBounds

    var held: HeldKeySet?
    var running: KeySetFetch?
    var isStopped = false
    /// Time of the next fetch by the refresh loop; initially, at once.
    var nextFetchAt = Int64.min
    /// Time of the last fetch for an unknown key.
    var lookUpFetchAt: Int64?
    var noticedAt = Int64.min
    var startedFetches: UInt64 = 0
    /// The cached set was fetched by another process, and this process has not fetched since.
    var isAdopted = false
    /// Number of failed fetches since the last successful fetch.
    var failures = 0
    var record = KeySetRecord()

    package init(bounds: KeySetBounds) {
        self.bounds = bounds
    }

    /// Returns the key while it may be used. This is the hot path; it changes nothing.
    package func usableKey(for keyID: String, at now: Int64) -> RSAPublicKey? {
        guard let held, held.isUsable(at: now, for: bounds.longestUse) else { return nil }
        return held.received.keys.key(for: keyID)
    }

    /// `waiters` is the number of callers that already wait for a fetch.
    package mutating func lookUp(_ keyID: String, at now: Int64, waiters: Int) -> LookUpAction {
        adjust(toClock: now)
        if usableKey(for: keyID, at: now) != nil {
            // Without a refresh loop, callers keep the set fresh. A look-up of a cached key never waits for
            // the fetch.
            guard running == nil, !isStopped, now >= nextFetchAt else { return .use }
            return .useAndStartFetch(start(at: now))
        }
        if let running {
            return waiters < bounds.mostWaiters ? .joinFetch(running.number) : .refuse(.keysUnavailable)
        }
        // The cooldown limits the requests that a flood of invented key IDs can cause.
        if isStopped || isCoolingDown(at: now) { return .refuse(refusal(at: now)) }
        lookUpFetchAt = now
        // Unconditional, so that an intermediate cache that wrongly responds with 304 cannot hide a new key.
        return .startFetch(start(for: keyID, at: now))
    }

    /// The error code for a key that is not in the cache when no fetch is started for it.
    package func refusal(at now: Int64) -> KeySetError.Code {
        // Only a set whose last fetch succeeded proves that a key is not Apple's.
        let isResponse = !isAdopted || isAskedLately(at: now)
        let canTell = hasUsableKeys(at: now) && failures == 0 && running == nil && !isStopped && isResponse
        return canTell ? .unknownKey : .keysUnavailable
    }

    package func isRunning(_ number: UInt64) -> Bool { running?.number == number }

    /// Starts no fetch from now on. The cached keys stay usable.
    package mutating func stop() { isStopped = true }

    package mutating func resume() { isStopped = false }

    func hasUsableKeys(at now: Int64) -> Bool {
        held?.isUsable(at: now, for: bounds.longestUse) ?? false
    }

    /// Starts a refresh (`keyID` is `nil`) or a fetch for an unknown key.
    mutating func start(for keyID: String? = nil, at now: Int64) -> KeySetFetch {
        startedFetches &+= 1
        let fetch = KeySetFetch(
            number: startedFetches,
            entityTag: keyID == nil ? held?.received.entityTag : nil,
            giveUpAt: now.addingSaturating(bounds.longestFetch), keyID: keyID)
        running = fetch
        return fetch
    }

    /// After the clock was set back, stored times lie in the future: the set would seem too young, and the
    /// next fetch would be too late, by as much as the clock was moved. This corrects them.
    mutating func adjust(toClock now: Int64) {
        defer { noticedAt = now }
        guard now < noticedAt else { return }
        nextFetchAt = min(nextFetchAt, now.addingSaturating(bounds.retryDelayWithKeys))
        lookUpFetchAt = lookUpFetchAt.map { min($0, now) }
        held?.moveBack(to: now, longestFreshness: bounds.longestFreshness)
    }

    private func isCoolingDown(at now: Int64) -> Bool {
        guard let lookUpFetchAt else { return false }
        return now < lookUpFetchAt.addingSaturating(bounds.lookUpCooldown)
    }
}
