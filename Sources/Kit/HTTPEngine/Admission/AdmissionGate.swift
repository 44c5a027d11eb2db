package import NIOCore

/// Applies `AdmissionRule` on one event loop, for all its connections. Stays on that loop.
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
