import NIOCore
import NIOPosix
import Synchronization

/// Handles the requests that one event loop has read in a round, several at once and stage by stage, and
/// submits their commands.
///
/// The code that reads, checks, writes and sends is many times larger than the processor's first
/// cache. A request that goes through all of the code alone spends most of its time fetching
/// instructions. When several requests go through a stage together, only the first fetches the code
/// of the stage: this saves more than a quarter of a verification. A single request waits no longer
/// than without rounds. Stays on its event loop.
final class EventLoopRound {
    /// Largest number of requests that go through the stages together. With more the first would wait for the
    /// last, and their data would be too large for the caches.
    private static let mostTogether = 16
    /// Largest number of gathered commands. The first waits for the last, some milliseconds.
    private static let mostGathered = 64

    let eventLoop: any EventLoop
    private let interface: any HTTPInterface
    private let finished: FinishedCommits
    private var connections = CircularBuffer<ConnectionHandler>()
    private var running: [ConnectionHandler] = []
    /// Number of gathered commands. Commands are not submitted singly: the first would wake the thread that
    /// commits, and would be committed alone. A transaction costs as much as several sign-ins in it.
    private var gathered = 0
    private var isScheduled = false

    init(eventLoop: any EventLoop, interface: any HTTPInterface) {
        self.eventLoop = eventLoop
        self.interface = interface
        finished = FinishedCommits(eventLoop: eventLoop)
    }

    /// Handles the request that the connection has read, or writes its pending response: as soon as enough
    /// other requests wait, and at the latest when the loop has read from all its sockets.
    func add(_ connection: ConnectionHandler) {
        connections.append(connection)
        if connections.count >= Self.mostTogether { return run(isLast: false) }
        schedule()
    }

    /// Commits the command together with the commands of other requests.
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
        // During a round, the end of the round submits the command.
        if running.isEmpty { schedule() }
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        // A loop runs this when it has read from the sockets that had something to read.
        eventLoop.execute {
            round.value.isScheduled = false
            round.value.run(isLast: true)
        }
    }

    /// - Parameter isLast: True if the loop has read from all its sockets.
    private func run(isLast: Bool) {
        // A connection that joins during a round, with a request that waited for the response before it, is
        // handled in the next round.
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

/// The outcomes of commands that an event loop has submitted. The
/// thread that commits passes them to the loop.
///
/// A loop with a thousand sockets to read takes long until it runs the tasks of other threads. The next round
/// of requests takes the outcomes here, and all outcomes of a transaction wake the loop once.
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

    /// - Parameter run: Runs on the loop. It may find no outcome left.
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

/// The delay of the service's commit queues.
public enum EventLoopDelay {
    /// The delay. Within it a client on the same machine has sent its next
    /// request. A transaction takes ten times as long.
    private static let moment = TimeAmount.microseconds(50)

    /// Waits on an event loop: on the caller's loop if there is one. The loop first
    /// handles requests that it has read meanwhile.
    public static let commits: @Sendable (_ then: @escaping @Sendable () -> Void) -> Void = { then in
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        eventLoop.scheduleTask(in: moment) {
            // Runs after the requests that were read during the delay.
            eventLoop.execute(then)
        }
    }
}
