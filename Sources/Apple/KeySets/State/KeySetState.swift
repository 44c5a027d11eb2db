package import JOSE

/// The key-set cache's state and decisions. It does no I/O and
/// reads no clock; its owner executes the actions that it returns.
///
/// `now` is wall-clock time in milliseconds since 1970. The clock may be set forward or back between two
/// calls; the effect lasts at most as long as one of the `KeySetBounds` durations.
package struct KeySetState: Sendable {
    let bounds: KeySetBounds

    var held: HeldKeySet?
    var running: KeySetFetch?
    var isStopped = false
    /// Time of the refresh loop's next fetch. The first fetch starts immediately.
    var nextFetchAt = Int64.min
    /// Time of the last fetch for an unknown key.
    var lookUpFetchAt: Int64?
    var noticedAt = Int64.min
    var startedFetches: UInt64 = 0
    /// Unknown key IDs, as bytes, that callers requested during the running or last fetch. At most
    /// `KeySetBounds.mostWaiters`.
    var sought: Set<[UInt8]> = []
    /// Key IDs that the last fetch looked for. An ID that the fetched set lacks is not Apple's. Empty while a
    /// fetch runs, and if the last fetch failed or another process's set was adopted instead.
    var absent: Set<[UInt8]> = []
    /// Number of failed fetches since the last successful fetch.
    var failures = 0
    var record = KeySetRecord()

    package init(bounds: KeySetBounds) {
        self.bounds = bounds
    }

    /// Returns the key if it is usable. This is the hot path, and it does not change the state.
    package func usableKey(for keyID: String, at now: Int64) -> RSAPublicKey? {
        guard let held, held.isUsable(at: now, for: bounds.longestUse) else { return nil }
        return held.received.keys.key(for: keyID)
    }

    /// - Parameters:
    ///   - issuedAt: The token's `iat`, in milliseconds and unverified.
    ///   - waiters: Number of callers already waiting for a fetch.
    package mutating func lookUp(
        _ keyID: String, issuedAt: Int64?, at now: Int64, waiters: Int
    ) -> LookUpAction {
        adjust(toClock: now)
        if usableKey(for: keyID, at: now) != nil {
            // Without a refresh loop, callers keep the set fresh.
            // Looking up a cached key never waits for the fetch.
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
        // The cooldown limits the requests that a flood of made-up key IDs can cause.
        if isStopped || isCoolingDown(at: now) {
            return .refuse(refusal(for: keyID, issuedAt: issuedAt, at: now))
        }
        lookUpFetchAt = now
        // The request is unconditional, so that an intermediate cache
        // that wrongly responds with 304 cannot hide a new key.
        return .startFetch(start(for: keyID, at: now))
    }

    /// Returns the error for a key that is not cached and for which no fetch starts.
    ///
    /// The key is not Apple's if the last fetch looked for it and did not find it, or if the token is older
    /// than the last key set. Any other key may be a new key of Apple: made-up key IDs may have started the
    /// cooldown, so the cooldown proves nothing about this key.
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

    /// Prevents further fetches. The cached keys stay usable.
    package mutating func stop() { isStopped = true }

    package mutating func resume() { isStopped = false }

    func hasUsableKeys(at now: Int64) -> Bool {
        held?.isUsable(at: now, for: bounds.longestUse) ?? false
    }

    /// Starts a refresh (`keyID` is `nil`), or a fetch for an unknown key.
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

    /// Corrects stored times that are in the future because the clock was set back. Otherwise the set would
    /// seem too young, and the next fetch would start too late, by as much as the clock moved.
    mutating func adjust(toClock now: Int64) {
        defer { noticedAt = now }
        guard now < noticedAt else { return }
        nextFetchAt = min(nextFetchAt, now.addingSaturating(bounds.retryDelayWithKeys))
        lookUpFetchAt = lookUpFetchAt.map { min($0, now) }
        held?.moveBack(to: now, longestFreshness: bounds.longestFreshness)
    }

    private func isCoolingDown(at now: Int64) -> Bool { now < cooldownEnd }

    private var cooldownEnd: Int64 { lookUpFetchAt?.addingSaturating(bounds.lookUpCooldown) ?? .min }

    /// Returns the latest possible end of the running fetch or, if none is running, the time at which a
    /// lookup or the refresh loop fetches again.
    private func nextAttempt(at now: Int64) -> Int64 {
        running?.giveUpAt ?? min(nextFetchAt, cooldownEnd)
    }
}

extension KeySetState {
    /// Returns the refresh loop's next action.
    package mutating func nextRefresh(at now: Int64) -> RefreshAction {
        adjust(toClock: now)
        if let running { return .joinFetch(running.number) }
        guard now < nextFetchAt else { return .startFetch(start(at: now)) }
        return .sleep(untilMilliseconds: min(nextFetchAt, now.addingSaturating(bounds.longestSleep)))
    }

    /// Processes the result of a fetch. `jitter` is a random number from 0 to 1000, which spreads out the
    /// requests of replicas that would otherwise refresh at the same time.
    package mutating func finish(
        _ fetch: KeySetFetch, with outcome: KeySetFetchOutcome, at now: Int64, jitter: Int64
    ) -> FinishAction {
        adjust(toClock: now)
        guard isRunning(fetch.number) else { return .wakeWaiters }
        running = nil
        switch outcome {
        case .replaced(let received, let cacheControl):
            record.fetches.replaced &+= 1
            return hold(
                received, of: fetch, for: freshness(cacheControl, unlessSaid: bounds.defaultFreshness), now,
                jitter)
        case .confirmed(let cacheControl):
            guard let held else { return fail(.statusUnexpected, at: now, jitter: jitter) }
            record.fetches.confirmed &+= 1
            // A 304 without Cache-Control keeps the freshness of the stored response (RFC 9111 §4.3.4).
            return hold(
                held.received, of: fetch, for: freshness(cacheControl, unlessSaid: held.freshness), now,
                jitter)
        case .failed(let code):
            return fail(code, at: now, jitter: jitter)
        case .cancelled:
            return .wakeWaiters
        }
    }

    /// Returns the next refresh time, which comes after 75% to 90% of the freshness period.
    func refreshMoment(fetchedAt: Int64, freshness: Int64, jitter: Int64) -> Int64 {
        let lead = freshness / 10 + freshness / 20 * 3 / 1000 * jitter.clamped(to: 0...1000)
        return fetchedAt.addingSaturating(freshness - lead)
    }

    private mutating func hold(
        _ received: ReceivedKeySet, of fetch: KeySetFetch, for freshness: Int64, _ now: Int64,
        _ jitter: Int64
    ) -> FinishAction {
        let held = HeldKeySet(
            received: received, askedAt: fetch.giveUpAt.subtractingSaturating(bounds.longestFetch),
            fetchedAt: now, freshUntil: now.addingSaturating(freshness))
        self.held = held
        absent = sought
        failures = 0
        record.lastSuccessAt = now
        nextFetchAt = refreshMoment(fetchedAt: now, freshness: freshness, jitter: jitter)
        return .wakeWaitersAndSave(held.snapshot)
    }

    private mutating func fail(_ code: KeySetFetchError.Code, at now: Int64, jitter: Int64) -> FinishAction {
        record.fetches.failed[code, default: 0] &+= 1
        (record.lastFailureAt, record.lastFailure) = (now, code)
        // The delay reaches its limit long before 30 failures, and a larger shift would overflow.
        failures = min(failures + 1, 30)
        let first = hasUsableKeys(at: now) ? bounds.retryDelayWithKeys : bounds.retryDelayWithoutKeys
        let pause = min(first.multipliedSaturating(by: 1 << Int64(failures - 1)), bounds.longestRetryDelay)
        let spread = pause.multipliedSaturating(by: jitter.clamped(to: 0...1000)) / 4000
        let retryAt = now.addingSaturating(pause).addingSaturating(spread)
        // A set that is still fresh keeps its planned refresh, because a flood of made-up key IDs during an
        // outage must not make the loop fetch earlier.
        nextFetchAt = hasUsableKeys(at: now) ? max(nextFetchAt, retryAt) : retryAt
        return .wakeWaiters
    }

    private func freshness(_ cacheControl: CacheControl, unlessSaid otherwise: Int64) -> Int64 {
        let freshness =
            switch cacheControl {
            case .absent: otherwise
            case .unusable: bounds.defaultFreshness
            case .fresh(let milliseconds): milliseconds
            }
        return freshness.clamped(to: bounds.shortestFreshness...bounds.longestFreshness)
    }
}

extension KeySetState {
    /// Adopts a set that another process has stored, so that many replicas send few more requests to Apple
    /// than one process would.
    ///
    /// A newer set is always adopted. It replaces the fetch if it is fresh enough for a refresh, has the
    /// requested key, or was fetched so recently that the lookup cooldown is still running.
    package mutating func adopt(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, for fetch: KeySetFetch, at now: Int64,
        jitter: Int64
    ) -> StoredSetAction {
        adjust(toClock: now)
        guard isRunning(fetch.number) else { return .wakeWaiters }
        // A set from the future would be newer than every other set, and so would prevent every later fetch.
        guard snapshot.fetchedAt <= now, restore(received, from: snapshot, at: now, jitter: jitter) else {
            return .ask(fetch)
        }
        guard satisfies(fetch, at: now) else { return .ask(conditional(fetch)) }
        running = nil
        failures = 0
        record.fetches.adopted &+= 1
        // The cooldown starts when the other process fetched the set. That process looked for the keys of its
        // own callers, so the set proves nothing about the keys that this process needs, unless their tokens
        // are older.
        if fetch.keyID != nil { lookUpFetchAt = snapshot.fetchedAt }
        return .wakeWaiters
    }

    private func satisfies(_ fetch: KeySetFetch, at now: Int64) -> Bool {
        guard let keyID = fetch.keyID else { return now < nextFetchAt }
        guard usableKey(for: keyID, at: now) == nil, let held else { return true }
        return now < held.fetchedAt.addingSaturating(bounds.lookUpCooldown)
    }

    /// Replaces the entity tag with the adopted set's tag,
    /// because a 304 to the old tag would confirm the wrong set.
    private mutating func conditional(_ fetch: KeySetFetch) -> KeySetFetch {
        let fetch = KeySetFetch(
            number: fetch.number, entityTag: fetch.keyID == nil ? held?.received.entityTag : nil,
            giveUpAt: fetch.giveUpAt, keyID: fetch.keyID)
        running = fetch
        return fetch
    }
}

extension KeySetState {
    /// Restores a stored set. Returns false if the cached set is at least as new.
    ///
    /// The times in a snapshot are not trusted: they can shorten
    /// a duration within its bounds, but never extend it.
    package mutating func restore(
        _ received: ReceivedKeySet, from snapshot: KeySetSnapshot, at now: Int64, jitter: Int64
    ) -> Bool {
        adjust(toClock: now)
        let fetchedAt = min(snapshot.fetchedAt, now)
        if let held, held.fetchedAt >= fetchedAt { return false }
        let freshness = snapshot.freshUntil.subtractingSaturating(snapshot.fetchedAt)
            .clamped(to: 0...bounds.longestFreshness)
        // A snapshot does not record when its fetch began. The earliest possible time is `fetchedAt` minus
        // the fetch time limit.
        held = HeldKeySet(
            received: received, askedAt: fetchedAt.subtractingSaturating(bounds.longestFetch),
            fetchedAt: fetchedAt, freshUntil: fetchedAt.addingSaturating(freshness))
        // Either the clock of the process that stored the set was ahead, or this process's clock is behind.
        // The set is used, but a fetch starts immediately.
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
    /// The stored bytes are not a key set with a usable key, or the cached set is at least as new.
    case ignored
    case storeFailed = "store_failed"
}

/// The last good set, and how long it may be used. Times are in milliseconds since 1970.
struct HeldKeySet: Sendable {
    let received: ReceivedKeySet
    /// Time at which Apple last sent or confirmed the set.
    private(set) var fetchedAt: Int64
    private(set) var freshUntil: Int64
    /// A time no later than the start of the fetch, so the set contains the keys for all tokens issued before
    /// this time. `nil` after the clock was set back past this time, because token times then do not compare
    /// with it.
    private(set) var askedAt: Int64?

    init(received: ReceivedKeySet, askedAt: Int64, fetchedAt: Int64, freshUntil: Int64) {
        self.received = received
        (self.askedAt, self.fetchedAt) = (askedAt, fetchedAt)
        self.freshUntil = freshUntil
    }

    var freshness: Int64 { freshUntil.subtractingSaturating(fetchedAt) }

    var snapshot: KeySetSnapshot {
        KeySetSnapshot(
            body: received.body, entityTag: received.entityTag, fetchedAt: fetchedAt, freshUntil: freshUntil)
    }

    func isUsable(at now: Int64, for longestUse: Int64) -> Bool {
        now < fetchedAt.addingSaturating(longestUse)
    }

    /// Returns true if the token's issue time, in milliseconds, is not later than the start of the fetch.
    func isNewer(thanTokenOf issuedAt: Int64?) -> Bool {
        guard let issuedAt, let askedAt else { return false }
        return issuedAt <= askedAt
    }

    /// Corrects times that are in the future because the clock was set back.
    mutating func moveBack(to now: Int64, longestFreshness: Int64) {
        if let asked = askedAt, asked > now { askedAt = nil }
        fetchedAt = min(fetchedAt, now)
        freshUntil = min(freshUntil, now.addingSaturating(longestFreshness))
    }
}
