import AppleAccounts
import GRDB
import Synchronization

/// The one connection that writes and makes checkpoints. What it is given runs one after the other on its own
/// queue, and is not cancelled with its caller.
final class WriteConnection: Sendable {
    private let lock: DatabaseFileLock
    private let queue: DatabaseQueue
    private let batches = QueueConfined<BatchWriter?>(nil)
    private let failure = Mutex<StorageError?>(nil)
    private let isScrubbing = Mutex(false)
    private let patienceMilliseconds: Int

    /// - Parameter patience: How many seconds to wait for another program that holds the file, a backup say.
    ///   The waiting blocks this connection's queue and nothing else.
    init(path: String, lock: DatabaseFileLock, patience: Double = 3) throws {
        self.lock = lock
        patienceMilliseconds = Int(patience * 1000)
        queue = try DatabaseQueue(path: path, configuration: .writing(patience: patience))
    }

    /// What the last attempt to write failed with; `nil` when it went well.
    var lastFailure: StorageError? { failure.withLock { $0 } }

    /// Commits a batch with one hop to the queue. `completion` is called there.
    func commit(
        _ commands: [AccountCommand],
        completion: @escaping @Sendable (Result<CommitResult, any Error>) -> Void
    ) {
        queue.asyncWriteWithoutTransaction { database in
            completion(Result { try self.commit(commands, in: database) })
        }
    }

    /// Runs something else that writes, in a transaction, with the statements that are prepared.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (BatchWriter) throws -> Value
    ) async throws -> Value {
        try await run { database in
            let writer = try self.writer(for: database)
            return try writer.transaction { try body(writer) }
        }
    }

    /// Runs something else that writes. `body` sees to its own transaction.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.asyncWriteWithoutTransaction { database in
                continuation.resume(with: Result { try self.attempt(in: database) { try body(database) } })
            }
        }
    }

    /// Closes the file, which makes the last checkpoint, and lets other processes have it.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { _ in
                // Statements would keep the connection open.
                self.batches.value = nil
                continuation.resume()
            }
        }
        try? queue.close()
        lock.release()
    }

    private func commit(_ commands: [AccountCommand], in database: Database) throws -> CommitResult {
        do {
            let result = try attempt(in: database) { try writer(for: database).commit(commands) }
            if result.hasErased { scrubLog() }
            return result
        } catch let error as StorageError where error.code == .valueRefused {
            // One of them has a value that no row takes, which must not be the fault of the others.
            return commitOneByOne(commands, in: database)
        }
    }

    private func commitOneByOne(_ commands: [AccountCommand], in database: Database) -> CommitResult {
        var results: [CommandResult] = []
        var lastEventSequence: Int64?
        for command in commands {
            do {
                let result = try attempt(in: database) { try writer(for: database).commit([command]) }
                results += result.results
                lastEventSequence = result.lastEventSequence ?? lastEventSequence
            } catch {
                results.append(.failed(StorageError(error)))
            }
        }
        return CommitResult(results: results, lastEventSequence: lastEventSequence)
    }

    /// What was erased is overwritten in the database file, but older versions of its pages stay in the log
    /// until that is emptied. Runs when its turn comes; if a reader is in the way, the next erasure, or the
    /// log's own turn, makes up for it.
    private func scrubLog() {
        let isFirst = isScrubbing.withLock { isScrubbing in
            defer { isScrubbing = true }
            return !isScrubbing
        }
        guard isFirst else { return }
        queue.asyncWriteWithoutTransaction { database in
            self.isScrubbing.withLock { $0 = false }
            // Not longer than a sign-in would mind.
            try? database.execute(sql: "PRAGMA busy_timeout = 50")
            _ = try? Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try? database.execute(sql: "PRAGMA busy_timeout = \(self.patienceMilliseconds)")
        }
    }

    private func writer(for database: Database) throws -> BatchWriter {
        if let writer = batches.value { return writer }
        let writer = try BatchWriter(database)
        batches.value = writer
        return writer
    }

    /// Leaves no transaction open and nothing half remembered behind, whatever happens.
    private func attempt<Value>(in database: Database, _ body: () throws -> Value) throws -> Value {
        do {
            // Left over only when an earlier rollback failed.
            if database.isInsideTransaction { try database.rollback() }
            let value = try body()
            failure.withLock { $0 = nil }
            return value
        } catch {
            // Failed statements cannot be used again, and the names may be of a transaction that never was.
            batches.value = nil
            if database.isInsideTransaction { try? database.rollback() }
            let error = StorageError(error)
            if error.code != .valueRefused { failure.withLock { $0 = error } }
            throw error
        }
    }
}

extension CommitResult {
    fileprivate var hasErased: Bool {
        results.contains { result in
            if case .done(.erased) = result { true } else { false }
        }
    }
}
