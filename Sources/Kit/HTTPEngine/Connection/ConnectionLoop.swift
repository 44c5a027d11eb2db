import NIOCore
import Synchronization

/// State that all connections of one event loop share. Use it only on this loop.
final class ConnectionLoop {
    let interface: any HTTPInterface
    let date: DateHeader
    let limits: ServerLimits
    let bodies: BodyMemoryBudget
    let gate: AdmissionGate
    let round: EventLoopRound
    let executor: EventLoopTaskExecutor
    let connections: LoopConnections

    init(
        _ eventLoop: any EventLoop, interface: any HTTPInterface, date: DateHeader, limits: ServerLimits,
        openConnections: OpenConnections,
        bodies: BodyMemoryBudget
    ) {
        (self.interface, self.date, self.limits, self.bodies) = (interface, date, limits, bodies)
        gate = AdmissionGate(eventLoop: eventLoop, bounds: limits.admission)
        round = EventLoopRound(eventLoop: eventLoop, interface: interface)
        executor = EventLoopTaskExecutor(eventLoop)
        connections = LoopConnections(openConnections: openConnections, eventLoop: eventLoop)
    }
}

/// Runs tasks on one event loop, so that work resumes on its connection without a thread change.
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

/// Creates one object per event loop when that loop first needs it.
final class EventLoopLocal<Value: AnyObject>: Sendable {
    private let values = Mutex<[ObjectIdentifier: NIOLoopBound<Value>]>([:])
    private let make: @Sendable (any EventLoop) -> Value

    init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// Returns an event loop's object. Callers must be on this loop.
    func value(on eventLoop: any EventLoop) -> Value {
        values.withLock { values in
            if let value = values[ObjectIdentifier(eventLoop)] { return value }
            let value = NIOLoopBound(make(eventLoop), eventLoop: eventLoop)
            values[ObjectIdentifier(eventLoop)] = value
            return value
        }.value
    }
}
