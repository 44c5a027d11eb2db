import GRDB
import Synchronization

/// A connection that reads a few pages on the caller's own thread, because switching to another thread and
/// back costs several times as much as such a read.
///
/// A server thread must not wait for another reader or for a disk. So after slow reads, the reading
/// connection serves all reads for a while, until the pages are probably in memory again.
final class DirectReadConnection: Sendable {
    /// Maximum duration of a read. Reading pages in memory takes microseconds; a failing disk takes much
    /// longer than this limit.
    static let longestRead = Duration.milliseconds(2)
    /// Number of consecutive slow reads before a pause. A single slow read was probably interrupted, not
    /// waiting for a disk.
    static let patience = 2
    /// Pause of direct reads after slow reads. It bounds the time that threads lose to slow reads.
    static let pause = Duration.milliseconds(500)

    private struct Pace {
        var slowReads = 0
        var pausedUntil = ContinuousClock.now
    }

    private let queue: DatabaseQueue
    private let rows = QueueConfined<RowReader?>(nil)
    private let pace = Mutex(Pace())
    private let longestRead: Duration

    /// - Parameter longestRead: Maximum duration of a read.
    init(path: String, longestRead: Duration = longestRead) throws {
        self.longestRead = longestRead
        queue = try DatabaseQueue(path: path, configuration: .readingDirectly())
    }

    /// Returns `nil` if the caller must use the reading connection instead: another thread is reading on this
    /// connection, direct reads are paused, or the read failed and should be repeated. `body` must read with
    /// one statement, because no snapshot spans two statements.
    func read<Value: Sendable>(_ body: (RowReader) throws -> Value) -> Value? {
        pace.withLockIfAvailable { pace -> Value? in
            let start = ContinuousClock.now
            guard start >= pace.pausedUntil else { return nil }
            // The read runs on the current thread, which is safe because no other code uses the queue.
            let value = queue.unsafeRead { database in readNow(body, in: database) }
            pace.slowReads = ContinuousClock.now - start > longestRead ? pace.slowReads + 1 : 0
            if pace.slowReads >= Self.patience { pace.pausedUntil = .now + Self.pause }
            return value
        } ?? nil
    }

    func close() {
        pace.withLock { _ in
            queue.unsafeRead { _ in rows.value = nil }
            try? queue.close()
        }
    }

    private func readNow<Value>(_ body: (RowReader) throws -> Value, in database: Database) -> Value? {
        do {
            let reader = try rows.value ?? RowReader(database)
            rows.value = reader
            return try body(reader)
        } catch {
            // A failed statement cannot be used again, and a damaged page must not stay in memory.
            rows.value = nil
            try? database.execute(sql: "PRAGMA shrink_memory")
            return nil
        }
    }
}
