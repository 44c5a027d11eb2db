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

    private let mostWaiting: Int
    private let largestBatch: Int
    private var waiting = Batch()
    private var isCommitting = false
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

    /// The next batch in the order of arrival, for the thread that commits. `nil` when nothing waits; the
    /// thread then stops.
    mutating func nextBatch(at now: ContinuousClock.Instant) -> Batch? {
        pace.batchEnded(at: now)
        guard !waiting.tickets.isEmpty else {
            isCommitting = false
            return nil
        }
        pace.batchBegan(at: now)
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
