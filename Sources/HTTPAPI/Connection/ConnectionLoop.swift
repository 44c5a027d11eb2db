import NIOCore
import SignIn

/// What the connections of one event loop share. Stays on its loop.
final class ConnectionLoop {
    let dispatcher: Dispatcher
    let limits: ServerLimits
    let bodies: BodyAllowance
    let gate: AdmissionGate
    let round: EventLoopRound
    let executor: EventLoopTaskExecutor
    let connections: LoopConnections

    init(
        _ eventLoop: any EventLoop, dispatcher: Dispatcher, commits: GroupCommit, limits: ServerLimits,
        crowd: Crowd,
        bodies: BodyAllowance
    ) {
        (self.dispatcher, self.limits, self.bodies) = (dispatcher, limits, bodies)
        gate = AdmissionGate(eventLoop: eventLoop, bounds: limits.admission)
        round = EventLoopRound(eventLoop: eventLoop, commits: commits)
        executor = EventLoopTaskExecutor(eventLoop)
        connections = LoopConnections(crowd: crowd, eventLoop: eventLoop)
    }
}
