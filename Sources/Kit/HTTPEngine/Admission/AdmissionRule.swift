public import NIOCore

/// Decides which requests one event loop rejects when more arrive than it can serve.
///
/// The engine handles each request as soon as it has read it, so requests queue in the sockets. The only sign
/// of the queue's length is the time until the loop serves the sockets again: a new request waits for the
/// rest of one round and part of the next. The rule measures some of the rounds. If the loop did little work
/// in a long round, it was waiting, for example for a disk, and was not overloaded. The rule does no I/O and
/// reads no clock.
struct AdmissionRule {
    private struct Start {
        let moment: NIODeadline
        /// Processor time that the loop had used when the measurement started.
        let worked: TimeAmount
    }

    private enum Phase {
        case resting(until: NIODeadline)
        /// The current round began before the measurement, so the measurement starts with the next round.
        case awaitingRound(isOver: Bool)
        case measuring(Start, isOver: Bool)
    }

    private let bounds: AdmissionBounds
    private var phase = Phase.resting(until: .uptimeNanoseconds(0))
    private var lastRound = TimeAmount.zero
    /// Start of the period in which every measured round has been too long.
    private var lateSince: NIODeadline?
    /// Processor time that the loop may still spend on rejections, in nanoseconds.
    private var credit: Int64 = 0
    private var rejected = 0

    init(_ bounds: AdmissionBounds = AdmissionBounds()) {
        self.bounds = bounds
    }

    /// - Parameter worked: Function that returns the processor time that the loop has used since its start.
    /// - Returns: `true` if the caller must call `roundEnded` at the end of the current round.
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
        // Callers that are rejected together must not retry together, so their delays differ.
        return .reject(retryAfter: 1 + rejected % 3)
    }

    private mutating func conclude(from start: Start, to end: Start) {
        let (length, work) = (end.moment - start.moment, end.worked - start.worked)
        // Other processes on a shared machine use processor time too, so a loop that worked for at least a
        // quarter of the round is considered busy for the whole round. If it worked for at least a tenth,
        // only this work counts. If it worked less, it was waiting for requests, so it delayed no request.
        lastRound =
            if work * 4 >= length { length } else if work * 10 >= length { work } else { .zero }
        guard lastRound > bounds.target else {
            (lateSince, credit) = (nil, 0)
            return
        }
        if lateSince == nil { lateSince = end.moment }
        // The credit is limited, because otherwise the loop could spend a large credit in one burst, and all
        // other work would have to wait.
        let most = bounds.patience.nanoseconds * bounds.share / 100
        credit = min(most, credit + work.nanoseconds * bounds.share / 100)
    }
}

/// Decision of `AdmissionRule` about one request.
package enum AdmissionDecision: Equatable {
    case admit
    /// The caller may retry after this number of seconds.
    case reject(retryAfter: Int)
}

/// Priority of a request during overload.
package enum RequestPriority: Sendable {
    /// These requests are never rejected, because operators need the service's state most during overload.
    case operations
    /// These requests are rejected only under heavier overload, because senders retry only a few times.
    case notification
    case ordinary
}

/// Overload limits above which the service rejects requests. A round is the time in which an event loop
/// serves all sockets that had data to read.
public struct AdmissionBounds: Sendable {
    /// Longest acceptable round. About 1000 simultaneous requests cause a round of this length.
    public var target = TimeAmount.milliseconds(60)
    /// Longest round during which the service still accepts notifications.
    public var notificationTarget = TimeAmount.milliseconds(150)
    /// Pause between two measurements while rounds are short.
    var rest = TimeAmount.milliseconds(10)
    /// Rounds must stay over the target for this long before the service rejects requests. It is longer than
    /// short bursts, and than pauses caused by other processes on the machine.
    var patience = TimeAmount.milliseconds(200)
    /// Cost of rejecting one request, including reading and writing.
    var cost = TimeAmount.microseconds(30)
    /// Largest share of the loop's work that may be spent on rejections, in percent.
    ///
    /// A rejection costs half as much as a verification, so a service that rejected every request above its
    /// capacity would have no time left for requests that it accepts. Requests beyond this share therefore
    /// wait in their sockets, at most one per connection.
    var share: Int64 = 4

    public init() {}
}

/// Applies `AdmissionRule` to all connections of one event loop. Use the gate only on this loop.
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
        // The event loop runs this task after it has served all sockets that had data to read.
        eventLoop.execute { gate.value.rule.roundEnded() }
    }

    package func decide(_ priority: RequestPriority, at now: NIODeadline) -> AdmissionDecision {
        rule.decide(priority, at: now)
    }
}
