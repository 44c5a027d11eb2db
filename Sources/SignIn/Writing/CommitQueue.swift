/// Decides what is committed together: everything that arrived during the transaction before.
///
/// Does no I/O and reads no clock. A ticket identifies the caller that waits.
struct CommitQueue<Command: Sendable, Ticket: Sendable>: Sendable {
    struct Batch: Sendable {
        var commands: [Command] = []
        var tickets: [Ticket] = []
    }

    enum Acceptance: Equatable {
        /// No transaction is running: the caller of `accept` must start one.
        case startCommitting
        case wait
        case refuse
    }

    /// For so many commands in a transaction it does not pay to wait for more.
    static var mostGathered: Int { 64 }
    /// How long the first command can wait for others.
    static var longestGathering: Duration { .milliseconds(3) }

    private let mostWaiting: Int
    private let largestBatch: Int
    private var waiting = Batch()
    private var isCommitting = false
    /// How many commands the last transaction had.
    private var lastCount = 0
    /// How many commands waited at the last look, and when the first look was.
    private var gathering: (seen: Int, began: ContinuousClock.Instant)?
    private var pace = CommitPace()
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

    /// Whether more commands are likely to arrive at once, which should share the next transaction: it costs as
    /// much as several commands in it.
    ///
    /// When the last one had several, their callers have been answered together and send the next together. To
    /// be asked again and again, a moment apart: it ends when a moment has brought none. A command that comes
    /// alone does not wait.
    mutating func shouldGather(at now: ContinuousClock.Instant) -> Bool {
        pace.batchEnded(at: now)
        let count = waiting.tickets.count
        guard lastCount > 1, (1..<Self.mostGathered).contains(count), !isClosed else {
            gathering = nil
            return false
        }
        let (seen, began) = gathering ?? (0, now)
        guard count > seen, now - began < Self.longestGathering else {
            gathering = nil
            return false
        }
        gathering = (count, began)
        return true
    }

    /// The next batch in the order of arrival, for the thread that commits. `nil` when nothing waits; the
    /// thread then stops.
    mutating func nextBatch(at now: ContinuousClock.Instant) -> Batch? {
        pace.batchEnded(at: now)
        guard !waiting.tickets.isEmpty else {
            isCommitting = false
            return nil
        }
        pace.batchBegan(at: now)
        lastCount = min(waiting.tickets.count, largestBatch)
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
