public import NIOCore

/// Decides which requests one event loop rejects when more arrive than it can serve.
///
/// A request is handled as soon as it is read. So the queue is in the sockets, and its length shows only in
/// the time until the loop serves them again: a new request waits for the rest of one round and for part of
/// the next. The rule sometimes measures a round. A long round with little work of the loop was a wait, for
/// example for a disk, and no overload. Does no I/O and reads no clock.
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
        // On a shared machine the loop does not get all of the processor time. A loop that used little of it
        // was waiting for requests: a long round then delays no request.
        lastRound =
            if work * 4 >= length { length } else if work * 10 >= length { work } else { .zero }
        guard lastRound > bounds.target else {
            (lateSince, credit) = (nil, 0)
            return
        }
        if lateSince == nil { lateSince = end.moment }
        // Credit is limited: the loop would spend a large credit at
        // once, and all other work would stop for as long.
        let most = bounds.patience.nanoseconds * bounds.share / 100
        credit = min(most, credit + work.nanoseconds * bounds.share / 100)
    }
}

/// The decision of `AdmissionRule` about one request.
package enum AdmissionDecision: Equatable {
    case admit
    /// The caller can retry after this number of seconds.
    case reject(retryAfter: Int)
}

/// Degree of overload at which a request is rejected.
package enum RequestPriority: Sendable {
    /// Never rejected, because operators need the state of the service most when it is overloaded.
    case operations
    /// Rejected late, because the sender of a notification repeats it only a few times.
    case notification
    case ordinary
}

/// Bounds above which requests are rejected because of overload. A round is the time in which an event loop
/// serves all sockets that had something to read.
public struct AdmissionBounds: Sendable {
    /// The longest acceptable round: a round of some 1000 requests that arrive at once.
    public var target = TimeAmount.milliseconds(60)
    /// The longest round in which notifications are not rejected.
    public var notificationTarget = TimeAmount.milliseconds(150)
    /// The pause between two measurements while rounds are short.
    var rest = TimeAmount.milliseconds(10)
    /// Time for which rounds must be too long before requests are rejected. A burst is shorter, and so is a
    /// pause that other processes on the machine cause.
    var patience = TimeAmount.milliseconds(200)
    /// Cost of the rejection of one request, including reading and writing.
    var cost = TimeAmount.microseconds(30)
    /// The largest part of the loop's work for rejections, in percent.
    ///
    /// A rejection costs half as much as a verification. A service that rejects every request above
    /// its capacity has no time left for the other requests. So requests above this share wait in
    /// their sockets, at most one for each connection.
    var share: Int64 = 4

    public init() {}
}

/// Applies `AdmissionRule` to all connections of one event loop. Stays on that loop.
package final class AdmissionGate {
    private let eventLoop: any EventLoop
    private var rule: AdmissionRule

    init(eventLoop: any EventLoop, bounds: AdmissionBounds) {
        self.eventLoop = eventLoop
        rule = AdmissionRule(bounds)
    }

    func requestArrived(at now: NIODeadline) {
        guard rule.requestArrived(at: now, worked: ThreadTime.now) else { return }
        let gate = NIOLoopBound(self, eventLoop: eventLoop)
        // An event loop runs this when it has served all sockets that had something to read.
        eventLoop.execute { gate.value.rule.roundEnded() }
    }

    package func decide(_ priority: RequestPriority, at now: NIODeadline) -> AdmissionDecision {
        rule.decide(priority, at: now)
    }
}
