import AppleAccounts

/// Bounds a rate: `perSecond` in the long run, and at most one second's worth at once.
///
/// Does no I/O and reads no clock. The wall clock may jump: a jump back adds no tokens, a jump ahead fills
/// the bucket at most once.
struct TokenBucket: Sendable {
    let perSecond: Double
    let capacity: Double
    private var level: Double
    private var filledAt: Moment

    /// - Parameter perSecond: More than 0. With less than 1 the bucket holds one token and fills slowly.
    init(perSecond: Double, at moment: Moment) {
        precondition(perSecond > 0 && perSecond.isFinite, "a rate is more than 0")
        self.perSecond = perSecond
        capacity = max(perSecond, 1)
        level = capacity
        filledAt = moment
    }

    /// Takes the tokens in the bucket, at most `wanted`.
    mutating func take(upTo wanted: Int, at now: Moment) -> Int {
        fill(at: now)
        let taken = min(max(wanted, 0), Int(level))
        level -= Double(taken)
        return taken
    }

    /// Returns tokens that were taken and not used.
    mutating func giveBack(_ count: Int) {
        level = min(level + Double(count), capacity)
    }

    /// Returns the time until the bucket has `count` tokens, or until it is full when it holds fewer.
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
