import NIOCore

/// What the connections of one event loop share. Stays on its loop.
final class ConnectionLoop {
    let dispatcher: Dispatcher
    let limits: ServerLimits
    let bodies: BodyAllowance
    let gate: AdmissionGate
    let round: AnswerRound
    let executor: EventLoopTaskExecutor
    let connections: LoopConnections

    init(
        _ eventLoop: any EventLoop, dispatcher: Dispatcher, limits: ServerLimits, crowd: Crowd,
        bodies: BodyAllowance
    ) {
        (self.dispatcher, self.limits, self.bodies) = (dispatcher, limits, bodies)
        gate = AdmissionGate(eventLoop: eventLoop, bounds: limits.admission)
        round = AnswerRound(eventLoop: eventLoop, commit: dispatcher.commit)
        executor = EventLoopTaskExecutor(eventLoop)
        connections = LoopConnections(crowd: crowd, eventLoop: eventLoop)
    }
}
