/// Decides which commands are committed together: all commands that arrived during the previous transaction
/// and, after a transaction with several commands, also the commands that follow immediately.
///
/// Does no I/O and reads no clock.
@usableFromInline
struct CommitQueue<Entry: Sendable>: Sendable {
    @usableFromInline
    enum Acceptance: Equatable {
        /// The queue is idle, so the caller of `accept` must call `next`.
        case startCommitting
        case wait
        case refuse
    }

    /// The next step for the thread that commits commands.
    @usableFromInline
    enum Next {
        case commit([Entry])
        /// Call `next` again with this turn after a short delay.
        case look(turn: Int)
        /// Do nothing: the queue is empty, or another call to `next` will continue the work.
        case stop
    }

    /// Number of waiting commands at which the queue stops gathering.
    @inlinable static var mostGathered: Int { 64 }
    /// Maximum time to gather commands. After this time the queue does not look again, and the next command
    /// to arrive ends the gathering.
    @inlinable static var longestGathering: Duration { .milliseconds(5) }
    /// Time within which callers are expected to send their next commands after a transaction.
    @inlinable static var longestReturn: Duration { .milliseconds(10) }

    @usableFromInline let mostWaiting: Int
    @usableFromInline let largestBatch: Int
    @usableFromInline var waiting: [Entry] = []
    @usableFromInline var isCommitting = false
    @usableFromInline var pace = CommitPace()
    /// Number of commands in the last transaction, and its end time.
    @usableFromInline var last: (count: Int, endedAt: ContinuousClock.Instant?) = (0, nil)
    /// Number of waiting commands at the last look, and the time of the first look.
    @usableFromInline var gathering: (seen: Int, began: ContinuousClock.Instant)?
    /// Number of the current turn. A look that belongs to an earlier turn has no effect.
    @usableFromInline var turn = 0
    @usableFromInline private(set) var isClosed = false

    init(capacity: Int, largestBatch: Int) {
        (mostWaiting, self.largestBatch) = (capacity, largestBatch)
    }

    @inlinable var isIdle: Bool { !isCommitting }
    @inlinable var depth: Int { waiting.count }

    /// Returns the queue's capacity for a command whose caller can retry.
    @inlinable
    func capacity(at now: ContinuousClock.Instant) -> CommitCapacity {
        guard isCommitting else { return .available }
        return pace.capacity(behind: depth / largestBatch, at: now)
    }

    @inlinable
    mutating func accept(_ entry: Entry) -> Acceptance {
        // When the queue is full, the caller should retry rather than wait too long.
        guard !isClosed, waiting.count < mostWaiting else { return .refuse }
        waiting.append(entry)
        guard !isCommitting else { return .wait }
        isCommitting = true
        return .startCommitting
    }

    /// Ends the gathering once enough commands have arrived, because looks can be late on a busy event loop.
    /// Called after `accept`. If the result is `true`, the caller must call `next`.
    @inlinable
    mutating func endsGathering(at now: ContinuousClock.Instant) -> Bool {
        guard let began = gathering?.began, depth >= mostTogether || now - began >= Self.longestGathering
        else { return false }
        gathering = nil
        turn &+= 1
        return true
    }

    /// Returns the next step. Called after a transaction, when the queue is idle, and at each look.
    ///
    /// - Parameters:
    ///   - look: The turn of the look; `nil` for any other call.
    ///   - gathers: True if the queue may wait for more commands.
    @inlinable
    mutating func next(
        look: Int? = nil, gathers: Bool, at now: ContinuousClock.Instant
    ) -> Next {
        guard look ?? turn == turn else { return .stop }
        batchEnded(at: now)
        if gathers, shouldGather(at: now) { return .look(turn: turn) }
        turn &+= 1
        return nextBatch(at: now).map { .commit($0) } ?? .stop
    }

    /// Returns `true` if more commands will probably arrive immediately. Waiting for them pays off, because a
    /// transaction costs as much as several of its commands.
    ///
    /// Callers whose commands shared a transaction received their results together, so they send their next
    /// commands together. The gathering ends when a look finds no more commands than the previous look did.
    /// Commands that arrive alone do not wait.
    @inlinable
    mutating func shouldGather(at now: ContinuousClock.Instant) -> Bool {
        let (seen, began) = gathering ?? (0, now)
        let isExpected = gathering != nil || last.count > 1 && isRecent(now)
        guard isExpected, depth > seen, depth < mostTogether, now - began < Self.longestGathering, !isClosed
        else {
            gathering = nil
            return false
        }
        gathering = (depth, began)
        return true
    }

    @inlinable var mostTogether: Int { min(Self.mostGathered, largestBatch) }

    @inlinable
    func isRecent(_ now: ContinuousClock.Instant) -> Bool {
        last.endedAt.map { now - $0 < Self.longestReturn } ?? false
    }

    @inlinable
    mutating func batchEnded(at now: ContinuousClock.Instant) {
        if pace.batchEnded(at: now) { last.endedAt = now }
    }

    /// Returns the next batch in order of arrival; `nil` if no command is waiting, which makes the queue
    /// idle.
    @inlinable
    mutating func nextBatch(at now: ContinuousClock.Instant) -> [Entry]? {
        guard !waiting.isEmpty else {
            isCommitting = false
            return nil
        }
        pace.batchBegan(at: now)
        last.count = min(waiting.count, largestBatch)
        guard waiting.count > largestBatch else {
            let batch = waiting
            waiting = []
            return batch
        }
        let batch = Array(waiting.prefix(largestBatch))
        waiting.removeFirst(largestBatch)
        return batch
    }

    /// Closes the queue to new commands. Accepted commands are still committed.
    mutating func close() {
        isClosed = true
    }
}

/// Measures how long transactions take, and estimates how long a new command will wait.
@usableFromInline
struct CommitPace: Sendable {
    /// Longest time that a caller may wait. A longer transaction is not a sign of overload: another program
    /// has locked the database, or the database's disk is not responding.
    static let longestWait = Duration.seconds(2)

    private var recent = Duration.zero
    private var beganAt: ContinuousClock.Instant?

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func batchBegan(at now: ContinuousClock.Instant) {
        beganAt = now
    }

    /// Records the end of a batch. Returns `false` if no batch was in progress.
    @discardableResult @usableFromInline
    mutating func batchEnded(at now: ContinuousClock.Instant) -> Bool {
        guard let beganAt else { return false }
        self.beganAt = nil
        // The last two batches count most, so a single checkpoint has little effect.
        recent = (recent + (now - beganAt)) / 2
        return true
    }

    /// - Parameter batches: Number of full batches ahead of the next command's batch.
    @usableFromInline
    func capacity(behind batches: Int, at now: ContinuousClock.Instant) -> CommitCapacity {
        let elapsed = beganAt.map { now - $0 } ?? .zero
        guard elapsed < Self.longestWait else { return .stalled }
        let each = max(recent, elapsed)
        return each * (batches + 1) < Self.longestWait || batches == 0 ? .available : .exhausted
    }
}

/// The capacity of the commit queue for a command whose caller can retry.
@usableFromInline
enum CommitCapacity: Equatable, Sendable {
    case available
    /// A new command would wait too long behind the commands in the queue.
    case exhausted
    /// The current transaction is taking too long.
    case stalled
}
