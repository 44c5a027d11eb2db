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
    /// The unknown key IDs that callers look for with the running fetch, or looked for with the last one, as
    /// bytes. At most `KeySetBounds.mostWaiters`.
    var sought: Set<[UInt8]> = []
    /// The key IDs that the last fetch looked for. Those that its set lacks are not Apple's. Empty while a fetch
    /// runs and after a fetch that failed.
    var absent: Set<[UInt8]> = []
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

    /// - Parameters:
    ///   - issuedAt: The `iat` of the token, in milliseconds and unverified.
    ///   - waiters: The number of callers that already wait for a fetch.
    package mutating func lookUp(
        _ keyID: String, issuedAt: Int64?, at now: Int64, waiters: Int
    ) -> LookUpAction {
        adjust(toClock: now)
        if usableKey(for: keyID, at: now) != nil {
            // Without a refresh loop, callers keep the set fresh. A look-up of a cached key never waits for
            // the fetch.
            guard running == nil, !isStopped, now >= nextFetchAt else { return .use }
            return .useAndStartFetch(start(at: now))
        }
        if let running {
            guard waiters < bounds.mostWaiters else {
                return .refuse(refusal(for: keyID, issuedAt: issuedAt, at: now))
            }
            if sought.count < bounds.mostWaiters { sought.insert(Array(keyID.utf8)) }
            return .joinFetch(running.number)
        }
        // The cooldown limits the requests that a flood of invented key IDs can cause.
        if isStopped || isCoolingDown(at: now) {
            return .refuse(refusal(for: keyID, issuedAt: issuedAt, at: now))
        }
        lookUpFetchAt = now
        // Unconditional, so that an intermediate cache that wrongly responds with 304 cannot hide a new key.
        return .startFetch(start(for: keyID, at: now))
    }

    /// Returns the error for a key that is not in the cache when no fetch is started for it.
    ///
    /// The key is not Apple's if the last fetch has looked for it, or if the token is older than the last set.
    /// Any other key may be new: the flood of invented keys that began the cooldown says nothing about it.
    package func refusal(for keyID: String, issuedAt: Int64?, at now: Int64) -> KeySetError {
        guard !isStopped else { return KeySetError(.keysUnavailable) }
        if running == nil, let held, hasUsableKeys(at: now),
            held.isNewer(thanTokenOf: issuedAt) || absent.contains(Array(keyID.utf8))
        {
            return KeySetError(.unknownKey)
        }
        let wait = nextAttempt(at: now).subtractingSaturating(now).clamped(to: 1...bounds.longestUse)
        return KeySetError(.keysUnavailable, retryAfter: Int((wait - 1) / 1000 + 1))
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
        sought = keyID.map { [Array($0.utf8)] } ?? []
        absent = []
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

    private func isCoolingDown(at now: Int64) -> Bool { now < cooldownEnd }

    private var cooldownEnd: Int64 { lookUpFetchAt?.addingSaturating(bounds.lookUpCooldown) ?? .min }

    /// The latest time at which the running fetch ends; without one, the time at which a look-up or the refresh
    /// loop fetches again.
    private func nextAttempt(at now: Int64) -> Int64 {
        running?.giveUpAt ?? min(nextFetchAt, cooldownEnd)
    }
}
