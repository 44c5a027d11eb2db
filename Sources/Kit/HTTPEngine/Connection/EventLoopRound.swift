import NIOCore
import NIOPosix
import Synchronization

/// Handles the requests that one event loop has read in a round. It processes several requests together,
/// stage by stage, and submits their commands.
///
/// The code that reads, checks, writes and sends is many times larger than the processor's first-level cache.
/// If each request went through all stages alone, the processor would spend most of the time fetching
/// instructions. If several go through a stage together, only the first request fetches the stage's code.
/// This saves more than a quarter of the time of a verification, and a single request waits no longer than
/// without rounds. Use the object only on its event loop.
final class EventLoopRound {
    /// Largest number of requests that go through the stages together. With more requests, the first would
    /// wait for the last, and their data would not fit into the caches.
    private static let mostTogether = 16
    /// The maximum number of commands in one group. The first command waits some milliseconds for the last.
    private static let mostGathered = 64

    let eventLoop: any EventLoop
    private let interface: any HTTPInterface
    private let finished: FinishedCommits
    private var connections = CircularBuffer<ConnectionHandler>()
    private var running: [ConnectionHandler] = []
    /// Number of gathered commands. They are not submitted individually, because otherwise the first command
    /// would wake the committing thread and get its own commit, and one transaction costs as much as several
    /// sign-ins within a transaction.
    private var gathered = 0
    private var isScheduled = false

    init(eventLoop: any EventLoop, interface: any HTTPInterface) {
        self.eventLoop = eventLoop
        self.interface = interface
        finished = FinishedCommits(eventLoop: eventLoop)
    }

    /// Handles the request that the connection has read, or writes its pending response. It does so as soon
    /// as enough other requests are waiting, or at the latest when the loop has read from all its sockets.
    func add(_ connection: ConnectionHandler) {
        connections.append(connection)
        if connections.count >= Self.mostTogether { return run(isLast: false) }
        schedule()
    }

    /// Adds a command that is committed together with other requests' commands.
    func add(
        _ gather: (@escaping ResponseSource.Completion) -> Void, of exchange: any HTTPExchange,
        on connection: ConnectionHandler
    ) {
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        let connection = NIOLoopBound(connection, eventLoop: eventLoop)
        gather { [finished] next in
            finished.append(
                FinishedCommits.Commit(connection: connection, exchange: exchange, next: next)
            ) { round.value.run(isLast: true) }
        }
        gathered += 1
        // A running round submits the command when it ends.
        if running.isEmpty { schedule() }
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        // The event loop runs this task once it has read from all sockets that had data to read.
        eventLoop.execute {
            round.value.isScheduled = false
            round.value.run(isLast: true)
        }
    }

    /// - Parameter isLast: True if the loop has read from all its sockets.
    private func run(isLast: Bool) {
        // During a round, a connection can add a pipelined request that waited for an earlier response. The
        // next round handles it.
        guard running.isEmpty else { return }
        for commit in finished.removeAll() where commit.connection.value.finish(commit) {
            connections.append(commit.connection.value)
        }
        while !connections.isEmpty { runStages() }
        guard gathered > 0 else { return }
        guard isLast || gathered >= Self.mostGathered else { return schedule() }
        gathered = 0
        interface.submitGathered()
    }

    private func runStages() {
        let count = min(connections.count, Self.mostTogether)
        running.append(contentsOf: connections.prefix(count))
        connections.removeFirst(count)
        for connection in running { connection.handleRequest() }
        for connection in running { connection.writeResponse() }
        for connection in running { connection.sendResponse() }
        running.removeAll(keepingCapacity: true)
    }
}

/// Results of an event loop's submitted commands, which the committing thread passes to the loop.
///
/// A loop with a thousand sockets to read takes a long time to reach other threads' tasks. So the next round
/// of requests reads the results from this queue, and all results of one transaction wake the loop only once.
final class FinishedCommits: Sendable {
    struct Commit: Sendable {
        let connection: NIOLoopBound<ConnectionHandler>
        let exchange: any HTTPExchange
        let next: @Sendable () -> ResponseSource
    }

    private let eventLoop: any EventLoop
    private let commits = Mutex<[Commit]>([])

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// - Parameter run: Function that runs on the loop. By then, a round may have removed all results.
    func append(_ commit: Commit, thenOnLoop run: @escaping @Sendable () -> Void) {
        let isFirst = commits.withLock { commits in
            commits.append(commit)
            return commits.count == 1
        }
        if isFirst { eventLoop.execute(run) }
    }

    func removeAll() -> [Commit] {
        commits.withLock { commits in
            guard !commits.isEmpty else { return [] }
            defer { commits = [] }
            return commits
        }
    }
}

/// Delay before the service's commit queues commit.
public enum EventLoopDelay {
    /// Length of the delay. It gives a client on the same machine time to send its next request, and is a
    /// tenth of the time that a transaction takes.
    private static let moment = TimeAmount.microseconds(50)

    /// Waits on an event loop, which is the caller's own loop if it has one. The loop first handles the
    /// requests that it has read during the delay.
    public static let commits: @Sendable (_ then: @escaping @Sendable () -> Void) -> Void = { then in
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        eventLoop.scheduleTask(in: moment) {
            // This task runs after the requests that were read during the delay.
            eventLoop.execute(then)
        }
    }
}
