import NIOCore
import SignIn

/// Answers the requests that one event loop has read in a round, several at once and stage by stage.
///
/// The code that reads, judges, writes and sends is many times larger than the processor's first cache, and a request
/// that walked through all of it alone spent most of its time fetching instructions. Of several that are there at once,
/// each finds a stage where the one before has left it: that saves more than a quarter of a verification. One that is
/// there alone is answered as soon as it would be otherwise. Stays on its loop.
final class AnswerRound {
    /// How many go through the stages together. With more the first would wait for the last, and what they have brought
    /// along would be too much for the caches in its turn.
    private static let mostTogether = 16
    /// How much is gathered to be committed, at the most. The first waits for the last, some milliseconds.
    private static let mostGathered = 64

    private let eventLoop: any EventLoop
    private let commit: @Sendable ([Submission]) -> Void
    private let finishedCalls: FinishedCalls
    private var connections = CircularBuffer<ConnectionHandler>()
    private var running: [ConnectionHandler] = []
    /// Not begun yet: the first to come would wake the thread that commits, which would take it alone. A transaction
    /// costs as much as several sign-ins in it.
    private var submissions: [Submission] = []
    private var isScheduled = false

    init(eventLoop: any EventLoop, commit: @escaping @Sendable ([Submission]) -> Void) {
        self.eventLoop = eventLoop
        self.commit = commit
        finishedCalls = FinishedCalls(eventLoop: eventLoop)
    }

    /// Has the connection answer what it has read, or send what came of it: as soon as there are enough others, and at
    /// the latest when the loop is through with what it is at.
    func add(_ connection: ConnectionHandler) {
        connections.append(connection)
        if connections.count >= Self.mostTogether { return run(isLast: false) }
        schedule()
    }

    /// Commits it together with what others have, in the same sense.
    func add(_ submission: Submission) {
        submissions.append(submission)
    }

    /// For a call of one of the loop's connections. What is returned may be called on any thread, once.
    func completion(
        of exchange: Exchange, on connection: ConnectionHandler
    ) -> @Sendable (@escaping Handling.Outcome) -> Void {
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        let connection = NIOLoopBound(connection, eventLoop: eventLoop)
        return { [finishedCalls] outcome in
            let call = FinishedCalls.Call(connection: connection, exchange: exchange, outcome: outcome)
            finishedCalls.append(call, thenOnLoop: { round.value.run(isLast: true) })
        }
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        // A loop turns to what it was asked to do when it has gone through the sockets that had something to read.
        eventLoop.execute {
            round.value.isScheduled = false
            round.value.run(isLast: true)
        }
    }

    /// - Parameter isLast: Whether the loop is through with its sockets.
    private func run(isLast: Bool) {
        // Whoever joins meanwhile, with a request that had to wait for the answer before it, comes next.
        guard running.isEmpty else { return }
        for call in finishedCalls.takeAll() where call.finish() { connections.append(call.connection.value) }
        while !connections.isEmpty { runStages() }
        if isLast || submissions.count >= Self.mostGathered {
            commit(submissions)
            submissions.removeAll(keepingCapacity: true)
        } else if !submissions.isEmpty {
            schedule()
        }
    }

    private func runStages() {
        let count = min(connections.count, Self.mostTogether)
        running.append(contentsOf: connections.prefix(count))
        connections.removeFirst(count)
        for connection in running { connection.answerRequest() }
        for connection in running { connection.writeAnswer() }
        for connection in running { connection.sendAnswer() }
        running.removeAll(keepingCapacity: true)
    }
}
