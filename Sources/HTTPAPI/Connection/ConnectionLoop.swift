import AppleAccounts
import Commits
import NIOCore
import SignIn

/// State shared by the connections of one event loop. Stays on its event loop.
final class ConnectionLoop {
    let dispatcher: Dispatcher
    let limits: ServerLimits
    let bodies: BodyMemoryBudget
    let gate: AdmissionGate
    let round: EventLoopRound
    let executor: EventLoopTaskExecutor
    let connections: LoopConnections

    init(
        _ eventLoop: any EventLoop, dispatcher: Dispatcher, commits: GroupCommit<AccountCommand>,
        limits: ServerLimits,
        openConnections: OpenConnections,
        bodies: BodyMemoryBudget
    ) {
        (self.dispatcher, self.limits, self.bodies) = (dispatcher, limits, bodies)
        gate = AdmissionGate(eventLoop: eventLoop, bounds: limits.admission)
        round = EventLoopRound(eventLoop: eventLoop, commits: commits)
        executor = EventLoopTaskExecutor(eventLoop)
        connections = LoopConnections(openConnections: openConnections, eventLoop: eventLoop)
    }
}

/// Runs tasks on one event loop, so that work that has to wait returns to its connection without a change of
/// thread.
final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
