import NIOCore

/// Decides which requests one event loop turns away when more come than it can serve.
///
/// A request is worked on as soon as it is read, so the queue is in the sockets, and how long it is shows only in how
/// long the loop takes to come round to them again. Whoever comes waits for one round, and for a part of the next. Now
/// and then a round is measured; a long one in which the loop did little was a wait, for a disk say, and no load.
/// Does no I/O and reads no clock.
struct AdmissionRule {
    enum Decision: Equatable {
        case admit
        /// Come again in so many seconds.
        case reject(retryAfter: Int)
    }

    private struct Start {
        let moment: NIODeadline
        /// How much the loop had worked by then.
        let worked: TimeAmount
    }

    private enum Phase {
        case resting(until: NIODeadline)
        /// The round that is under way began before it was looked at.
        case awaitingRound(isOver: Bool)
        case measuring(Start, isOver: Bool)
    }

    private let bounds: AdmissionBounds
    private var phase = Phase.resting(until: .uptimeNanoseconds(0))
    private var lastRound = TimeAmount.zero
    /// Since when every round was too long.
    private var lateSince: NIODeadline?
    /// The work that may be spent on turning away, in nanoseconds.
    private var credit: Int64 = 0
    private var rejected = 0

    init(_ bounds: AdmissionBounds = AdmissionBounds()) {
        self.bounds = bounds
    }

    /// - Parameter worked: How much the loop has worked in its life.
    /// - Returns: whether `roundEnded` must be called, as soon as the loop is through with what is at hand.
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

    mutating func decide(_ priority: RequestPriority, at now: NIODeadline) -> Decision {
        guard let lateSince, now - lateSince >= bounds.patience else { return .admit }
        switch priority {
        case .operations: return .admit
        case .notification: guard lastRound > bounds.notificationTarget else { return .admit }
        case .ordinary: break
        }
        guard credit >= bounds.cost.nanoseconds else { return .admit }
        credit -= bounds.cost.nanoseconds
        rejected += 1
        // Those that are turned away together must not come back together.
        return .reject(retryAfter: 1 + rejected % 3)
    }

    private mutating func conclude(from start: Start, to end: Start) {
        let (length, work) = (end.moment - start.moment, end.worked - start.worked)
        // On a machine that is shared the loop gets less than all of the time. A loop that did next to nothing waited
        // for somebody to come: what it did beside adds up with the time, and makes nobody wait.
        lastRound =
            if work * 4 >= length { length } else if work * 10 >= length { work } else { .zero }
        guard lastRound > bounds.target else {
            (lateSince, credit) = (nil, 0)
            return
        }
        if lateSince == nil { lateSince = end.moment }
        // Not saved for later: more could be spent in one go, and would stop everything else for that long.
        let most = bounds.patience.nanoseconds * bounds.share / 100
        credit = min(most, credit + work.nanoseconds * bounds.share / 100)
    }
}
