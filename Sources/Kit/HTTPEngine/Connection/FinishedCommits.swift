import NIOCore
import Synchronization

/// The outcomes of commands that an event loop has submitted, from the thread that committed the commands to
/// the loop.
///
/// A loop with a thousand sockets to read takes long until it runs the tasks of other threads. The outcomes
/// here are taken with the next round of requests, and all outcomes of a transaction wake the loop once.
final class FinishedCommits: Sendable {
    struct Commit: Sendable {
        let connection: NIOLoopBound<ConnectionHandler>
        let exchange: any HTTPExchange
        let response: @Sendable () -> HTTPResponse
    }

    private let eventLoop: any EventLoop
    private let commits = Mutex<[Commit]>([])

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// - Parameter run: Runs on the loop. It may find that nothing is left to take.
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
