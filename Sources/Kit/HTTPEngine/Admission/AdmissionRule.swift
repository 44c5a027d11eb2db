import NIOCore

/// Decides which requests one event loop rejects when more arrive than it can serve.
///
/// A request is handled as soon as it is read. So the queue is in the sockets, and its length shows only in
/// the time until the loop serves them again: a new request waits for the rest of one round and for part of
/// the next. The rule measures a round now and then. A long round in which the loop worked little was a wait,
/// for example for a disk, and no overload. Does no I/O and reads no clock.
struct AdmissionRule {
    private struct Start {
        let moment: NIODeadline
        /// Processor time that the loop had used at the start.
        let worked: TimeAmount
    }

    private enum Phase {
        case resting(until: NIODeadline)
        /// The current round began before the measurement.
        case awaitingRound(isOver: Bool)
        case measuring(Start, isOver: Bool)
    }

    private let bounds: AdmissionBounds
    private var phase = Phase.resting(until: .uptimeNanoseconds(0))
    private var lastRound = TimeAmount.zero
    /// Time since which every measured round was too long.
    private var lateSince: NIODeadline?
    /// The work that may be spent on rejections, in nanoseconds.
    private var credit: Int64 = 0
    private var rejected = 0

    init(_ bounds: AdmissionBounds = AdmissionBounds()) {
        self.bounds = bounds
    }

    /// - Parameter worked: The processor time that the loop has used in its life.
    /// - Returns: `true` if `roundEnded` must be called at the end of the current round.
    mutating func requestArrived(at now: NIODeadline, worked: () -> TimeAmount) -> Bool {
        switch phase {
        case .resting(let end):
            guard now >= end else { return false }
            phase = .awaitingRound(isOver: false)
            return true
        case .awaitingRound(isOver: true):
            phase = .measuring(Start(moment: now, worked: worked()), isOver: false)
            return true
        case .measuring(let start, isOver: true):
            let end = Start(moment: now, worked: worked())
            conclude(from: start, to: end)
            phase = lateSince == nil ? .resting(until: now + bounds.rest) : .measuring(end, isOver: false)
            return lateSince != nil
        case .awaitingRound(isOver: false), .measuring(_, isOver: false):
            return false
        }
    }

    mutating func roundEnded() {
        switch phase {
        case .resting: break
        case .awaitingRound: phase = .awaitingRound(isOver: true)
        case .measuring(let start, _): phase = .measuring(start, isOver: true)
        }
    }

    mutating func decide(_ priority: RequestPriority, at now: NIODeadline) -> AdmissionDecision {
        guard let lateSince, now - lateSince >= bounds.patience else { return .admit }
        switch priority {
        case .operations: return .admit
        case .notification: guard lastRound > bounds.notificationTarget else { return .admit }
        case .ordinary: break
        }
        guard credit >= bounds.cost.nanoseconds else { return .admit }
        credit -= bounds.cost.nanoseconds
        rejected += 1
        // Callers that are rejected together must not retry together.
        return .reject(retryAfter: 1 + rejected % 3)
    }

    private mutating func conclude(from start: Start, to end: Start) {
        let (length, work) = (end.moment - start.moment, end.worked - start.worked)
        // On a shared machine the loop does not get all of the time. A loop that used little processor time
        // was waiting for requests: a long round then delays no request.
        lastRound =
            if work * 4 >= length { length } else if work * 10 >= length { work } else { .zero }
        guard lastRound > bounds.target else {
            (lateSince, credit) = (nil, 0)
            return
        }
        if lateSince == nil { lateSince = end.moment }
        // The credit is not saved up: a large credit would be spent at once, and would stop everything else
        // for as long.
        let most = bounds.patience.nanoseconds * bounds.share / 100
        credit = min(most, credit + work.nanoseconds * bounds.share / 100)
    }
}
