import AppleAccounts
import AuthorizationServer
import Foundation
import GRDB
import Logging
import Synchronization

/// The single connection that writes and makes checkpoints. Its jobs run in order on its own queue, and
/// continue even if their callers are cancelled.
final class WriteConnection: Sendable {
    private let lock: DatabaseFileLock
    private let sealing: any AppleTokenSealing
    private let queue: DatabaseQueue
    private let batches = QueueConfined<BatchWriter?>(nil)
    private let checkpoints = QueueConfined(LogCheckpoints())
    private let trouble = Mutex(WriteTrouble())
    private let isScrubbing = Mutex(false)
    private let patienceMilliseconds: Int
    private let path: String
    private let files: Mutex<OpenFiles>
    private let beganAt = Mutex<ContinuousClock.Instant?>(nil)
    private let logger: Logger
    private let onFailure: @Sendable (StorageError) -> Void

    /// - Parameters:
    ///   - patience: Seconds to wait for another program that has locked the file, such as a backup. The wait
    ///     blocks only this connection's queue.
    ///   - onFailure: Called with the error of each failed write transaction. It must not block.
    init(
        path: String, lock: DatabaseFileLock, sealing: any AppleTokenSealing = NoAppleTokenSealing(),
        patience: Double = 3,
        logger: Logger = Logger(label: "siwa.sqlite") { _ in SwiftLogNoOpLogHandler() },
        onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) throws {
        (self.lock, self.sealing, self.onFailure) = (lock, sealing, onFailure)
        (self.path, self.logger) = (path, logger)
        patienceMilliseconds = Int(patience * 1000)
        queue = try DatabaseQueue(path: path, configuration: .writing(patience: patience))
        files = Mutex(OpenFiles(database: path))
    }

    /// A longer transaction is waiting for another program that has locked the file, or for an unresponsive
    /// disk.
    static let longestTransaction = Duration.seconds(2)

    /// Throws if the running transaction takes too long, even if it has not failed yet.
    func checkProgress() throws {
        guard let began = beganAt.withLock({ $0 }), .now - began >= Self.longestTransaction else { return }
        throw StorageError(.busy, detail: "the transaction under way does not come back")
    }

    /// Throws if the disk was full and still has almost no room.
    func checkRoom() throws {
        guard lastFailure?.code == .full, DiskSpace.isExhausted(at: path) else { return }
        throw StorageError(.full, detail: "the disk has less than 1 MiB free")
    }

    /// Throws if the files were moved or replaced, because later writes to the open files would be lost at
    /// the next restart.
    func checkFiles() throws { try files.withLock { try $0.check() } }

    /// The error of the last write attempt; `nil` after a success. After a full disk, the error stays until
    /// the disk has room again.
    var lastFailure: StorageError? { trouble.withLock { $0.failure } }

    /// Logs failures that were suppressed because the same failure had just been logged.
    func reportTrouble() { write(trouble.withLock { $0.line(at: .now) }) }

    /// Adds a batch to the queue. `completion` is called on the queue, before any checkpoint that the batch
    /// makes due.
    ///
    /// - Parameter transaction: Commits some commands in one transaction.
    func enqueue<Command: BatchCommand>(
        _ commands: [Command],
        transaction: @escaping @Sendable (BatchWriter, [Command]) throws -> Command.Batch,
        completion: @escaping @Sendable (Result<Command.Batch, any Error>) -> Void
    ) {
        queue.asyncWriteWithoutTransaction { database in
            completion(
                Result {
                    try Command.Batch.committing(
                        commands, storageError: { StorageError($0) },
                        afterEach: { self.runCheckpointIfDue(in: database) }
                    ) { commands in
                        try self.attempt(in: database) {
                            try transaction(self.writer(for: database), commands)
                        }
                    }
                })
            self.runCheckpointIfDue(in: database)
        }
    }

    /// Runs another write in a transaction, with the prepared statements.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (BatchWriter) throws -> Value
    ) async throws -> Value {
        try await run { database in
            let writer = try self.writer(for: database)
            return try writer.transaction { try body(writer) }
        }
    }

    /// Runs other writes with the prepared statements, each in its own transaction.
    func session<Value: Sendable>(
        _ body: @escaping @Sendable (BatchWriter) throws -> Value
    ) async throws -> Value {
        try await run { try body(try self.writer(for: $0)) }
    }

    /// Runs another write. `body` begins its own transaction.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.asyncWriteWithoutTransaction { database in
                continuation.resume(with: Result { try self.attempt(in: database) { try body(database) } })
                self.runCheckpointIfDue(in: database)
            }
        }
    }

    /// Closes the file after a last checkpoint, and releases it for other processes.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { _ in
                // The statements are dropped, because open statements would keep the connection open.
                self.batches.value = nil
                continuation.resume()
            }
        }
        try? queue.close()
        lock.release()
    }

    /// Empties the log after an erasure. Erased data is overwritten in the database file, but older versions
    /// of its pages stay in the log until it is emptied. Runs later, as another job on the queue. If a reader
    /// prevents it, the next erasure or the next checkpoint empties the log.
    func scrubLog() {
        let isFirst = isScrubbing.withLock { isScrubbing in
            defer { isScrubbing = true }
            return !isScrubbing
        }
        guard isFirst else { return }
        queue.asyncWriteWithoutTransaction { database in
            self.isScrubbing.withLock { $0 = false }
            self.beganAt.withLock { $0 = .now }
            defer { self.beganAt.withLock { $0 = nil } }
            // The time-out is short, because sign-ins wait behind this job.
            try? database.execute(sql: "PRAGMA busy_timeout = 50")
            _ = try? Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try? database.execute(sql: "PRAGMA busy_timeout = \(self.patienceMilliseconds)")
        }
    }

    /// Runs a due checkpoint before the next block on the queue, so that the log exceeds its limit by at most
    /// one block.
    private func runCheckpointIfDue(in database: Database) {
        guard checkpoints.value.isDue(in: database) else { return }
        // The start of a checkpoint is recorded too, because an unresponsive disk delays a checkpoint as much
        // as a transaction.
        beganAt.withLock { $0 = .now }
        defer { beganAt.withLock { $0 = nil } }
        checkpoints.value.run(in: database)
    }

    private func writer(for database: Database) throws -> BatchWriter {
        if let writer = batches.value { return writer }
        let writer = try BatchWriter(database, sealing: sealing)
        batches.value = writer
        return writer
    }

    /// Runs `body`. If it throws, no transaction stays open and no partly updated cache is kept.
    private func attempt<Value>(in database: Database, _ body: () throws -> Value) throws -> Value {
        beganAt.withLock { $0 = .now }
        defer { beganAt.withLock { $0 = nil } }
        do {
            // A transaction can be open only after an earlier failed rollback.
            if database.isInsideTransaction { try database.rollback() }
            try checkFiles()
            let value = try body()
            // The files are checked inside the transaction, because after a restart only the files with these
            // names exist.
            try checkFiles()
            write(trouble.withLock { $0.succeeded(at: .now, hasRoom: { !DiskSpace.isExhausted(at: path) }) })
            return value
        } catch {
            // Failed statements cannot be used again, and cached names may come from a transaction that was
            // rolled back.
            batches.value = nil
            if database.isInsideTransaction { try? database.rollback() }
            let error = StorageError(error)
            // Cached pages are dropped, because a damaged page must not outlive its repair on the disk.
            if error.code == .corrupted { try? database.execute(sql: "PRAGMA shrink_memory") }
            if error.code != .valueRefused {
                write(trouble.withLock { $0.failed(error, at: .now) })
                onFailure(error)
            }
            throw error
        }
    }

    private func write(_ line: WriteTrouble.Line?) {
        switch line {
        case .isFailing(let error):
            logger.error("the database cannot be written", metadata: ["cause": "\(error.debugDescription)"])
        case .isOver: logger.notice("the database can be written again")
        case nil: break
        }
    }
}

/// The error of the last write attempt, and the log lines about it. Does no I/O and reads no clock.
///
/// Log lines are limited, because on a nearly full disk many writes fail and succeed each second.
struct WriteTrouble: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Line: Equatable {
        case isFailing(StorageError)
        case isOver
    }

    /// Minimum time between two log lines about failures.
    static var interval: Duration { .seconds(10) }

    private(set) var failure: StorageError?
    private var isSaidToFail = false
    private var saidAt: Instant?

    mutating func failed(_ error: StorageError, at now: Instant) -> Line? {
        failure = error
        return line(at: now)
    }

    /// - Parameter hasRoom: Returns true if the disk has room again. Called only after the disk was full.
    mutating func succeeded(at now: Instant, hasRoom: () -> Bool) -> Line? {
        guard let failure else { return line(at: now) }
        // A few pages may still fit into the log's free space although the next sign-in does not.
        if failure.code == .full, !hasRoom() { return line(at: now) }
        self.failure = nil
        return line(at: now)
    }

    /// Returns the line to log now, if any. Must also be called while there are no writes.
    mutating func line(at now: Instant) -> Line? {
        guard (failure != nil) != isSaidToFail else { return nil }
        guard let failure else {
            isSaidToFail = false
            return .isOver
        }
        if let saidAt, now - saidAt < Self.interval { return nil }
        (isSaidToFail, saidAt) = (true, now)
        return .isFailing(failure)
    }
}
