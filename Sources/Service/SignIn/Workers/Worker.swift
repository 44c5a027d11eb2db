package import AppleAccounts
package import Logging

/// Work that waits in the database and is carried out in the background: how it is claimed, and what is done
/// with one piece. `ClaimLoop` runs it.
package protocol Worker: Sendable {
    associatedtype Work: Sendable
    associatedtype WorkResult: CountedResult

    static var traits: WorkerTraits { get }

    var context: WorkerContext<WorkResult> { get }

    /// Bounds how much is claimed. `nil` claims everything that is due.
    var claimPace: SharedPace? { get }

    /// Claims at most so many pieces that are due. Claims are durable, and end by themselves.
    func claim(limit: Int, at moment: Moment) async throws -> [Work]

    /// Returns the moment at which there is something to claim next, or `nil` when there is nothing.
    func nextDue() async throws -> Moment?

    /// Carries out one piece. Stores by itself what must not be lost.
    func perform(_ work: Work) async -> WorkOutcome<WorkResult>

    /// Log lines about different client IDs are throttled apart. There are few.
    func clientID(of work: Work) -> String

    /// Names a piece in the log.
    func logMetadata(of work: Work) -> Logger.Metadata
}

extension Worker {
    package func now() -> Moment { context.now() }

    /// Logs a line about a piece, at most once a minute for each client ID and error.
    package func tell(
        _ message: Logger.Message, of work: Work, _ error: (any Error)? = nil, level: Logger.Level,
        adding metadata: Logger.Metadata = [:]
    ) {
        context.log.tell(
            message, about: error, of: clientID(of: work), level: level, at: now(),
            metadata: logMetadata(of: work).merging(metadata) { $1 })
    }
}
