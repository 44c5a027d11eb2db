package import JOSE

/// Every decision of the key-set cache. It does no I/O and reads no clock; whoever owns it carries its
/// actions out.
///
/// `now` is wall-clock time in milliseconds since 1970 and may do anything between two calls: what it says is
/// never trusted with more than a `KeySetBounds` span.
package struct KeySetState: Sendable {
    let bounds: KeySetBounds

    var held: HeldKeySet?
    var running: KeySetFetch?
    var isStopped = false
    /// When the refresh loop asks next. At first: at once.
    var nextFetchAt = Int64.min
    /// When a look-up last started a fetch.
    var lookUpFetchAt: Int64?
    var noticedAt = Int64.min
    var startedFetches: UInt64 = 0
    /// The set at hand is one that another process has fetched. Apple was not asked by this one since.
    var isAdopted = false
    /// Failed fetches since the last good one.
    var failures = 0
    var record = KeySetRecord()

    package init(bounds: KeySetBounds) {
        self.bounds = bounds
    }

    /// The key, while it may be used. Changes nothing: this is the hot path.
    package func usableKey(for keyID: String, at now: Int64) -> RSAPublicKey? {
        guard let held, held.isUsable(at: now, for: bounds.longestUse) else { return nil }
        return held.received.keys.key(for: keyID)
    }

    /// `waiters` is how many callers wait for a fetch already.
    package mutating func lookUp(_ keyID: String, at now: Int64, waiters: Int) -> LookUpAction {
        notice(now)
        if usableKey(for: keyID, at: now) != nil {
            // Without a refresh loop, callers are what keeps the set fresh. A good key never waits for that.
            guard running == nil, !isStopped, now >= nextFetchAt else { return .use }
            return .useAndStartFetch(start(at: now))
        }
        if let running {
            return waiters < bounds.mostWaiters ? .joinFetch(running.number) : .refuse(.keysUnavailable)
        }
        // The cool-down bounds what a flood of invented key IDs can cost Apple and us.
        if isStopped || isCoolingDown(at: now) { return .refuse(refusal(at: now)) }
        lookUpFetchAt = now
        // Unconditional, so that a cache on the way that wrongly answers 304 cannot hide a new key.
        return .startFetch(start(for: keyID, at: now))
    }

    /// Why a key that is not at hand is refused when nothing more is tried for it.
    package func refusal(at now: Int64) -> KeySetError.Code {
        // Only a set that came when it was last asked for can tell that a key is not Apple's.
        let isAnswer = !isAdopted || isAskedLately(at: now)
        let canTell = hasUsableKeys(at: now) && failures == 0 && running == nil && !isStopped && isAnswer
        return canTell ? .unknownKey : .keysUnavailable
    }

    package func isRunning(_ number: UInt64) -> Bool { running?.number == number }

    /// From now on nothing is fetched; what is at hand still serves.
    package mutating func stop() { isStopped = true }

    package mutating func resume() { isStopped = false }

    func hasUsableKeys(at now: Int64) -> Bool {
        held?.isUsable(at: now, for: bounds.longestUse) ?? false
    }

    /// To keep the set fresh, or for an unknown key.
    mutating func start(for keyID: String? = nil, at now: Int64) -> KeySetFetch {
        startedFetches &+= 1
        let fetch = KeySetFetch(
            number: startedFetches,
            entityTag: keyID == nil ? held?.received.entityTag : nil,
            giveUpAt: now.addingSaturating(bounds.longestFetch), keyID: keyID)
        running = fetch
        return fetch
    }

    /// A clock that was set back would make remembered moments lie in the future, and the set young, or the
    /// next fetch far away, for as long as the step was wide.
    mutating func notice(_ now: Int64) {
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
