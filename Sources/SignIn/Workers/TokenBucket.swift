import AppleAccounts

/// Bounds a rate: so many in a second in the long run, and no more than one second's worth at once.
///
/// Pure. The wall clock may jump: backwards gives nothing, forwards fills the bucket at most once.
struct TokenBucket: Sendable {
    let perSecond: Double
    let capacity: Double
    private var level: Double
    private var filledAt: Moment

    /// - Parameter perSecond: More than 0. Less than one is a bucket for one that fills slowly.
    init(perSecond: Double, at moment: Moment) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate is more than nothing")
        self.perSecond = perSecond
        capacity = max(perSecond, 1)
        level = capacity
        filledAt = moment
    }

    /// Takes as many as there are, at most `wanted`.
    mutating func take(upTo wanted: Int, at now: Moment) -> Int {
        fill(at: now)
        let taken = min(max(wanted, 0), Int(level))
        level -= Double(taken)
        return taken
    }

    /// What was taken and is not used after all.
    mutating func giveBack(_ count: Int) {
        level = min(level + Double(count), capacity)
    }

    /// How long until so many are there; more than fit are counted as what fits.
    mutating func wait(for count: Int, at now: Moment) -> Duration {
        fill(at: now)
        let missing = min(Double(count), capacity.rounded(.down)) - level
        return missing <= 0 ? .zero : .milliseconds(Int64((missing / perSecond * 1000).rounded(.up)))
    }

    private mutating func fill(at now: Moment) {
        let elapsed = now.milliseconds - filledAt.milliseconds
        if elapsed > 0 { level = min(level + Double(elapsed) / 1000 * perSecond, capacity) }
        filledAt = now
    }
}
