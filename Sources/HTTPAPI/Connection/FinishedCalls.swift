import NIOCore
import Synchronization

/// What came of calls on another thread, until their event loop takes it.
///
/// A loop with a thousand sockets to read takes long to come round to what it is asked to do meanwhile. Kept here, an
/// answer goes out with the next round of requests, and all answers of a commit ask for the loop once.
final class FinishedCalls: Sendable {
    struct Call: Sendable {
        let connection: NIOLoopBound<ConnectionHandler>
        let exchange: Exchange
        let outcome: Handling.Outcome

        /// - Returns: whether there is an answer to write.
        func finish() -> Bool { connection.value.finishLater(exchange, from: outcome) }
    }

    private let eventLoop: any EventLoop
    private let calls = Mutex<[Call]>([])

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// - Parameter take: Runs on the loop. It may find that nothing is left.
    func append(_ call: Call, thenOnLoop take: @escaping @Sendable () -> Void) {
        let isFirst = calls.withLock { calls in
            calls.append(call)
            return calls.count == 1
        }
        if isFirst { eventLoop.execute(take) }
    }

    func takeAll() -> [Call] {
        calls.withLock { calls in
            guard !calls.isEmpty else { return [] }
            defer { calls = [] }
            return calls
        }
    }
}
