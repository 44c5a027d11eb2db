import NIOCore

/// Decides which requests one event loop turns away when more come than it can serve.
///
/// A request is worked on as soon as it is read, so the queue is in the sockets, and how long it is shows only in how
/// long the loop takes to come round to them again. Whoever comes waits for one round, and for a part of the next. Now
/// and then a round is measured; a long one in which the loop did little was a wait, for a disk say, and no load.
/// Does no I/O and reads no clock.
struct AdmissionRule {
    struct Bounds: Sendable {
        /// The longest round that is fine: some 1000 requests that are there at once.
        var target = TimeAmount.milliseconds(60)
        /// The round past which notifications are turned away too.
        var notificationTarget = TimeAmount.milliseconds(150)
        /// Between two measurements, when all is well.
        var rest = TimeAmount.milliseconds(10)
        /// For how long rounds must be too long. A burst is worked off, and so is what a busy neighbour on the
        /// machine has held up.
        var patience = TimeAmount.milliseconds(200)
        /// What turning one request away costs, with its reading and its writing.
        var cost = TimeAmount.microseconds(30)
        /// The part of the loop's work that may go into turning away, in percent.
        ///
        /// To turn away costs half of what a verification costs: whoever answers all that is too much has no time left
        /// for the rest. So what is above this share waits in its sockets, where each connection has one request.
        var share: Int64 = 4

        /// Without optimization every round takes many times as long, and in tests many services share the loops.
        static var forThisBuild: Bounds {
            var bounds = Bounds()
            #if DEBUG
                (bounds.target, bounds.notificationTarget) = (.seconds(60), .seconds(60))
            #endif
            return bounds
        }
    }

    enum Decision: Equatable {
        case admit
        /// Come again in so many seconds.
        case turnAway(retryAfter: Int)
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

    private let bounds: Bounds
    private var phase = Phase.resting(until: .uptimeNanoseconds(0))
    private var lastRound = TimeAmount.zero
    /// Since when every round was too long.
    private var lateSince: NIODeadline?
    /// The work that may be spent on turning away, in nanoseconds.
    private var credit: Int64 = 0
    private var turnedAway = 0

    init(_ bounds: Bounds = Bounds()) {
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

    mutating func decide(_ importance: Importance, at now: NIODeadline) -> Decision {
        guard let lateSince, now - lateSince >= bounds.patience else { return .admit }
        switch importance {
        case .operations: return .admit
        case .notification: guard lastRound > bounds.notificationTarget else { return .admit }
        case .ordinary: break
        }
        guard credit >= bounds.cost.nanoseconds else { return .admit }
        credit -= bounds.cost.nanoseconds
        turnedAway += 1
        // Those that are turned away together must not come back together.
        return .turnAway(retryAfter: 1 + turnedAway % 3)
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
