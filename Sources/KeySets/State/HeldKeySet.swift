/// The last good set, and the limits of its use. Times are in milliseconds since 1970.
struct HeldKeySet: Sendable {
    let received: ReceivedKeySet
    /// Time at which Apple last sent or confirmed the set.
    private(set) var fetchedAt: Int64
    private(set) var freshUntil: Int64

    init(received: ReceivedKeySet, fetchedAt: Int64, freshUntil: Int64) {
        self.received = received
        self.fetchedAt = fetchedAt
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

    /// Corrects times that lie in the future after the clock was set back.
    mutating func moveBack(to now: Int64, longestFreshness: Int64) {
        fetchedAt = min(fetchedAt, now)
        freshUntil = min(freshUntil, now.addingSaturating(longestFreshness))
    }
}
