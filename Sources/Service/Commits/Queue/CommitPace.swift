/// Measures how long transactions take, and estimates how long a new command would wait.
@usableFromInline
struct CommitPace: Sendable {
    /// Longest time that a caller may wait. A longer transaction is no overload: another program holds the
    /// database, or its disk does not respond.
    static let longestWait = Duration.seconds(2)

    private var recent = Duration.zero
    private var beganAt: ContinuousClock.Instant?

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func batchBegan(at now: ContinuousClock.Instant) {
        beganAt = now
    }

    /// Returns `false` when no batch was under way.
    @discardableResult @usableFromInline
    mutating func batchEnded(at now: ContinuousClock.Instant) -> Bool {
        guard let beganAt else { return false }
        self.beganAt = nil
        // The last two batches count most, so that one checkpoint has little effect.
        recent = (recent + (now - beganAt)) / 2
        return true
    }

    /// - Parameter batches: Number of full batches that wait before the next command's batch.
    @usableFromInline
    func capacity(behind batches: Int, at now: ContinuousClock.Instant) -> CommitCapacity {
        let elapsed = beganAt.map { now - $0 } ?? .zero
        guard elapsed < Self.longestWait else { return .stalled }
        let each = max(recent, elapsed)
        return each * (batches + 1) < Self.longestWait || batches == 0 ? .available : .exhausted
    }
}

/// The commit queue's capacity for a command whose caller can retry.
@usableFromInline
enum CommitCapacity: Equatable, Sendable {
    case available
    /// A new command would wait too long behind the commands that wait already.
    case exhausted
    /// The current transaction does not return.
    case stalled
}
