extension KeySetState {
    /// Returns what the refresh loop must do now.
    package mutating func nextRefresh(at now: Int64) -> RefreshAction {
        adjust(toClock: now)
        if let running { return .joinFetch(running.number) }
        guard now < nextFetchAt else { return .startFetch(start(at: now)) }
        return .sleep(untilMilliseconds: min(nextFetchAt, now.addingSaturating(bounds.longestSleep)))
    }

    /// Processes the result of a fetch. `jitter` is a random number from 0 to 1000: it spreads the requests
    /// of replicas that would otherwise refresh at the same time.
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

    /// The next refresh: before the end of freshness by 10% to 25% of the whole duration.
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
        // A set that is still fresh keeps its planned refresh: a flood of invented key IDs during an outage
        // must not make the loop fetch earlier.
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
