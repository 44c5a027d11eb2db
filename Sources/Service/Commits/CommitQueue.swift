/// Decides which commands are committed together: the commands that arrived during the previous transaction
/// and, after a transaction of several commands, the commands that follow at once.
///
/// Does no I/O and reads no clock.
@usableFromInline
struct CommitQueue<Entry: Sendable>: Sendable {
    @usableFromInline
    enum Acceptance: Equatable {
        /// No command is being committed or gathered: the caller of `accept` must call `next`.
        case startCommitting
        case wait
        case refuse
    }

    /// The next step of the thread that commits.
    @usableFromInline
    enum Next {
        case commit([Entry])
        /// Call `next` again a moment later, with this turn.
        case look(turn: Int)
        /// Nothing to do: the queue is empty, or another call of `next` continues.
        case stop
    }

    /// Number of commands in a transaction at which the queue stops waiting for more commands.
    @inlinable static var mostGathered: Int { 64 }
    /// Longest gathering. After this time no further look begins, and the next arrival ends the gathering.
    @inlinable static var longestGathering: Duration { .milliseconds(5) }
    /// Time within which the callers of a transaction are expected to send their next commands.
    @inlinable static var longestReturn: Duration { .milliseconds(10) }

    @usableFromInline let mostWaiting: Int
    @usableFromInline let largestBatch: Int
    @usableFromInline var waiting: [Entry] = []
    @usableFromInline var isCommitting = false
    @usableFromInline var pace = CommitPace()
    /// Number of commands of the last transaction, and the time of its end.
    @usableFromInline var last: (count: Int, endedAt: ContinuousClock.Instant?) = (0, nil)
    /// Number of commands that waited at the last look, and the time of the first look.
    @usableFromInline var gathering: (seen: Int, began: ContinuousClock.Instant)?
    /// Number of the current turn. A look of an earlier turn has no effect.
    @usableFromInline var turn = 0
    @usableFromInline private(set) var isClosed = false

    init(capacity: Int, largestBatch: Int) {
        (mostWaiting, self.largestBatch) = (capacity, largestBatch)
    }

    @inlinable var isIdle: Bool { !isCommitting }
    @inlinable var depth: Int { waiting.count }

    /// Returns the capacity for a command whose caller can retry.
    @inlinable
    func capacity(at now: ContinuousClock.Instant) -> CommitCapacity {
        guard isCommitting else { return .available }
        return pace.capacity(behind: depth / largestBatch, at: now)
    }

    @inlinable
    mutating func accept(_ entry: Entry) -> Acceptance {
        // At the bound a caller should retry instead of waiting too long.
        guard !isClosed, waiting.count < mostWaiting else { return .refuse }
        waiting.append(entry)
        guard !isCommitting else { return .wait }
        isCommitting = true
        return .startCommitting
    }

    /// Ends the gathering if enough commands have been gathered. The caller has accepted commands; after
    /// `true` it must call `next`. On a busy event loop the looks may be late.
    @inlinable
    mutating func endsGathering(at now: ContinuousClock.Instant) -> Bool {
        guard let began = gathering?.began, depth >= mostTogether || now - began >= Self.longestGathering
        else { return false }
        gathering = nil
        turn &+= 1
        return true
    }

    /// Returns the next step. Called after a transaction, when no transaction runs, and at a look.
    ///
    /// - Parameters:
    ///   - look: The turn of a look; `nil` otherwise.
    ///   - gathers: `true` if the queue may wait for more commands.
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

    /// Decides to wait for more commands if they are likely to arrive at once: a transaction costs as much as
    /// several commands in it.
    ///
    /// After a transaction of several commands, their callers got their results together and send their next
    /// commands together. The gathering ends when a look finds no more commands than the look before.
    /// Commands that come alone do not wait.
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

    /// Returns the next batch in the order of arrival. `nil` when no command waits: the queue is idle then.
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

/// Measures how long transactions take, and estimates how long a new command would wait.
@usableFromInline
struct CommitPace: Sendable {
    /// Longest time that a caller may wait. A longer transaction is not an overload: another program has
    /// locked the database, or its disk does not respond.
    static let longestWait = Duration.seconds(2)

    private var recent = Duration.zero
    private var beganAt: ContinuousClock.Instant?

    @usableFromInline
    init() {}

    @usableFromInline
    mutating func batchBegan(at now: ContinuousClock.Instant) {
        beganAt = now
    }

    /// Returns `false` if no batch was in progress.
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
