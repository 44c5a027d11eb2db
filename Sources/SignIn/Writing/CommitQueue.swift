/// Decides what is committed together: everything that arrived during the transaction before and, after one of
/// several commands, what arrives at once.
///
/// Does no I/O and reads no clock. A ticket identifies the caller that waits.
struct CommitQueue<Command: Sendable, Ticket: Sendable>: Sendable {
    struct Batch: Sendable {
        var commands: [Command] = []
        var tickets: [Ticket] = []
    }

    enum Acceptance: Equatable {
        /// Nothing is committed or gathered: the caller of `accept` must go on with `next`.
        case startCommitting
        case wait
        case refuse
    }

    /// What the thread that commits has to do.
    enum Next {
        case commit(Batch)
        /// Ask again a moment later, with this turn.
        case look(turn: Int)
        /// Nothing: the queue is empty, or somebody else goes on.
        case stop
    }

    /// For so many commands in a transaction it does not pay to wait for more.
    static var mostGathered: Int { 64 }
    /// From when on no further look begins, and an arrival ends the gathering.
    static var longestGathering: Duration { .milliseconds(5) }
    /// How long the callers of a transaction are expected back.
    static var longestReturn: Duration { .milliseconds(10) }

    private let mostWaiting: Int
    private let largestBatch: Int
    private var waiting = Batch()
    private var isCommitting = false
    private var pace = CommitPace()
    /// How many commands the last transaction had, and when it ended.
    private var last: (count: Int, endedAt: ContinuousClock.Instant?) = (0, nil)
    /// How many commands waited at the last look, and when the first look was.
    private var gathering: (seen: Int, began: ContinuousClock.Instant)?
    /// A look of an earlier turn comes too late.
    private var turn = 0
    private(set) var isClosed = false

    init(capacity: Int, largestBatch: Int) {
        (mostWaiting, self.largestBatch) = (capacity, largestBatch)
    }

    var isIdle: Bool { !isCommitting }
    var depth: Int { waiting.tickets.count }

    /// Whether a command whose caller can retry should be accepted.
    func capacity(at now: ContinuousClock.Instant) -> CommitCapacity {
        guard isCommitting else { return .available }
        return pace.capacity(behind: depth / largestBatch, at: now)
    }

    mutating func accept(_ command: Command, _ ticket: Ticket) -> Acceptance {
        // Above the bound a caller should be told to retry instead of waiting too long.
        guard !isClosed, waiting.tickets.count < mostWaiting else { return .refuse }
        waiting.commands.append(command)
        waiting.tickets.append(ticket)
        guard !isCommitting else { return .wait }
        isCommitting = true
        return .startCommitting
    }

    /// Whether enough has been gathered, for one that has accepted something. It must then go on with `next`.
    /// The looks of a busy event loop may come late.
    mutating func endsGathering(at now: ContinuousClock.Instant) -> Bool {
        guard let began = gathering?.began, depth >= mostTogether || now - began >= Self.longestGathering
        else { return false }
        gathering = nil
        turn &+= 1
        return true
    }

    /// What comes next when the transaction before has ended, when there was none, or at a look.
    ///
    /// - Parameters:
    ///   - look: The turn of a look; `nil` otherwise.
    ///   - gathers: Whether more commands may be waited for.
    mutating func next(
        look: Int? = nil, gathers: Bool, at now: ContinuousClock.Instant
    ) -> Next {
        guard look ?? turn == turn else { return .stop }
        batchEnded(at: now)
        if gathers, shouldGather(at: now) { return .look(turn: turn) }
        turn &+= 1
        return nextBatch(at: now).map { .commit($0) } ?? .stop
    }

    /// Whether more commands are likely to arrive at once, which should share the next transaction: it costs as
    /// much as several commands in it.
    ///
    /// When the last one had several, their callers have been answered together and send the next together. It
    /// ends when a look finds no more than the one before. Commands that come alone do not wait.
    private mutating func shouldGather(at now: ContinuousClock.Instant) -> Bool {
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

    private var mostTogether: Int { min(Self.mostGathered, largestBatch) }

    private func isRecent(_ now: ContinuousClock.Instant) -> Bool {
        last.endedAt.map { now - $0 < Self.longestReturn } ?? false
    }

    private mutating func batchEnded(at now: ContinuousClock.Instant) {
        if pace.batchEnded(at: now) { last.endedAt = now }
    }

    /// The next batch in the order of arrival. `nil` when nothing waits: the queue is idle then.
    private mutating func nextBatch(at now: ContinuousClock.Instant) -> Batch? {
        guard !waiting.tickets.isEmpty else {
            isCommitting = false
            return nil
        }
        pace.batchBegan(at: now)
        last.count = min(waiting.tickets.count, largestBatch)
        guard waiting.tickets.count > largestBatch else {
            let batch = waiting
            waiting = Batch()
            return batch
        }
        let batch = Batch(
            commands: Array(waiting.commands.prefix(largestBatch)),
            tickets: Array(waiting.tickets.prefix(largestBatch)))
        waiting.commands.removeFirst(largestBatch)
        waiting.tickets.removeFirst(largestBatch)
        return batch
    }

    /// Accepts nothing more. What was accepted is still committed.
    mutating func close() {
        isClosed = true
    }
}
