import JOSE

extension KeySetState {
    package func health(at now: Int64) -> KeySetHealth {
        let isUsable = hasUsableKeys(at: now)
        var health = KeySetHealth(
            status: status(at: now), keyCount: isUsable ? held?.received.keys.count ?? 0 : 0)
        if let held {
            health.skippedKeyCount = held.received.keys.skipped.count
            health.age = max(0, now.subtractingSaturating(held.fetchedAt))
            health.freshUntil = held.freshUntil
            health.usableUntil = held.fetchedAt.addingSaturating(bounds.longestUse)
        }
        health.lastSuccessAt = record.lastSuccessAt
        health.lastFailureAt = record.lastFailureAt
        health.lastFailure = record.lastFailure
        health.lastStatus = record.lastStatus
        let next = [nextFetchAt, lookUpFetchAt?.addingSaturating(bounds.lookUpCooldown)]
        health.nextFetchAt = next.compactMap { $0 }.filter { $0 > now }.min()
        health.fetches = record.fetches
        health.snapshotFailures = record.snapshotFailures
        return health
    }

    /// Counts a failed load or save of the stored set. The keys in memory stay in use.
    package mutating func noteSnapshotFailure() {
        record.snapshotFailures &+= 1
    }

    /// Notes the status of a response; `nil` for a request that got none.
    package mutating func noteStatus(_ status: Int?) { record.lastStatus = status }

    private func status(at now: Int64) -> KeySetHealth.Status {
        let cause = failures > 0 ? record.lastFailure : nil
        guard let held, hasUsableKeys(at: now) else { return .unavailable(cause) }
        return failures > 0 || now >= held.freshUntil ? .stale(cause) : .ready
    }
}

/// The history that `KeySetHealth` reports. No decision depends on it.
struct KeySetRecord: Sendable {
    var fetches = KeySetFetchCounters()
    var lastSuccessAt: Int64?
    var lastFailureAt: Int64?
    var lastFailure: KeySetFetchError.Code?
    var lastStatus: Int?
    var snapshotFailures = 0
}
