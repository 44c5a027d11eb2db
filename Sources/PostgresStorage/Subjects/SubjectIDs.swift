import Synchronization

/// IDs for new subjects, taken from the database in blocks.
///
/// Those of a block that a process does not use are lost, of which there are enough.
final class SubjectIDs: Sendable {
    /// As the sequence is declared.
    private static let blockSize: Int64 = 1024

    private static let nextBlock = PostgresCall(
        PostgresStatement("next_subject_block", "SELECT nextval('subject_block')"))

    private let left = Mutex<Range<Int64>>(0..<0)

    func next(in session: PostgresSession) throws -> Int64 {
        if let id = takeFirst() { return id }
        guard let start = try session.run(Self.nextBlock).onlyValue(as: Int64.self) else {
            return try next(in: session)
        }
        // Another batch may have fetched a block meanwhile; the rest of that one is lost.
        left.withLock { $0 = (start + 1)..<(start + Self.blockSize) }
        return start
    }

    /// Forgets what is left of the block: the database may have forgotten that it gave it away, as a standby
    /// has that took over and lacked the last commits. The same block can then be another replica's too.
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
