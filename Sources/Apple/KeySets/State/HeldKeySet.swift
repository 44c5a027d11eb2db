/// The last good set, and the limits of its use. Times are in milliseconds since 1970.
struct HeldKeySet: Sendable {
    let received: ReceivedKeySet
    /// Time at which Apple last sent or confirmed the set.
    private(set) var fetchedAt: Int64
    private(set) var freshUntil: Int64
    /// Time at which the fetch of the set began, or earlier: keys of older tokens were in the set. `nil` after
    /// the clock was set back behind it, because then no token can be compared with it.
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

    /// Returns true if the fetch began when a token of this time, in milliseconds, had been issued.
    func isNewer(thanTokenOf issuedAt: Int64?) -> Bool {
        guard let issuedAt, let askedAt else { return false }
        return issuedAt <= askedAt
    }

    /// Corrects times that lie in the future after the clock was set back.
    mutating func moveBack(to now: Int64, longestFreshness: Int64) {
        if let asked = askedAt, asked > now { askedAt = nil }
        fetchedAt = min(fetchedAt, now)
        freshUntil = min(freshUntil, now.addingSaturating(longestFreshness))
    }
}
