import Synchronization

/// IDs for new subjects, taken from the database in blocks.
///
/// Unused IDs of a process's block are lost; the sequence has enough.
final class SubjectIDs: Sendable {
    /// The increment in the declaration of the sequence.
    private static let blockSize: Int64 = 1024

    private static let nextBlock = PostgresCall(
        PostgresStatement("next_subject_block", "SELECT nextval('subject_block')"))

    private let left = Mutex<Range<Int64>>(0..<0)

    func next(in session: PostgresSession) throws -> Int64 {
        if let id = takeFirst() { return id }
        guard let start = try session.run(Self.nextBlock).onlyValue(as: Int64.self) else {
            return try next(in: session)
        }
        // Another batch may have fetched a block in the meantime; the rest of its block is lost.
        left.withLock { $0 = (start + 1)..<(start + Self.blockSize) }
        return start
    }

    /// Drops the rest of the block: after a failover to a standby that lacked the last commits, the server
    /// may assign the same block to another replica.
    func forgetBlock() {
        left.withLock { $0 = 0..<0 }
    }

    private func takeFirst() -> Int64? {
        left.withLock { left in
            guard let id = left.first else { return nil }
            left = (id + 1)..<left.upperBound
            return id
        }
    }
}
