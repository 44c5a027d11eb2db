import NIOCore

/// Answers the requests that one event loop has read in a round, several at once and stage by stage.
///
/// The code that reads, judges, writes and sends is many times larger than the processor's first cache, and a request that
/// walked through all of it alone spent most of its time fetching instructions. Of several that are there at once, each finds
/// a stage where the one before has left it: that saves more than a quarter of a verification. One that is there alone is
/// answered as soon as it would be otherwise. Stays on its loop.
final class AnswerRound {
    /// How many go through the stages together. With more the first would wait for the last, and what they have brought
    /// along would be too much for the caches in its turn.
    private static let mostTogether = 16

    private let eventLoop: any EventLoop
    private var connections: [ConnectionHandler] = []
    private var running: [ConnectionHandler] = []
    private var isScheduled = false

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Has the connection answer what it has read, or send what came of it: as soon as there are enough others, and at
    /// the latest when the loop is through with what it is at.
    func add(_ connection: ConnectionHandler) {
        connections.append(connection)
        if connections.count >= Self.mostTogether { return run() }
        schedule()
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let round = NIOLoopBound(self, eventLoop: eventLoop)
        // A loop turns to what it was asked to do when it has gone through the sockets that had something to read.
        eventLoop.execute {
            round.value.isScheduled = false
            round.value.run()
        }
    }

    private func run() {
        // Whoever joins meanwhile, with a request that had to wait for the answer before it, has a turn to come.
        guard running.isEmpty else { return }
        // Both keep their memory.
        swap(&connections, &running)
        for connection in running { connection.answerRequest() }
        for connection in running { connection.writeAnswer() }
        for connection in running { connection.sendAnswer() }
        running.removeAll(keepingCapacity: true)
        if !connections.isEmpty { schedule() }
    }
}
