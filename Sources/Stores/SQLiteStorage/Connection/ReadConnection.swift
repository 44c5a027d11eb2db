import AppleAccounts
import GRDB
import Synchronization

/// The read-only connection. Reads that arrive while others run share the next block on its queue and one
/// snapshot, just as commands share a transaction.
final class ReadConnection: Sendable {
    /// Responds to its caller. Returns true if the reader can be used again.
    private typealias Job = @Sendable (Result<RowReader, any Error>) -> Bool

    private struct State {
        var waiting: [Job] = []
        var isRunning = false
    }

    private let queue: DatabaseQueue
    private let reader = QueueConfined<RowReader?>(nil)
    private let state = Mutex(State())
    private let trouble = Mutex(ReadTrouble())
    private let onFailure: @Sendable (StorageError) -> Void

    /// - Parameter onFailure: Called with the error of each failed read. It must not block.
    init(path: String, onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }) throws {
        self.onFailure = onFailure
        queue = try DatabaseQueue(path: path, configuration: .reading())
    }

    /// Runs a read. The read sees every commit that returned before this call.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (RowReader) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let job: Job = { reader in
                do {
                    continuation.resume(returning: try body(try reader.get()))
                    return true
                } catch {
                    let error = StorageError(error)
                    self.trouble.withLock { $0.failed(error, at: .now) }
                    if error.code != .valueRefused { self.onFailure(error) }
                    continuation.resume(throwing: error)
                    return false
                }
            }
            let isFirst = state.withLock { state in
                state.waiting.append(job)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if isFirst { queue.asyncWriteWithoutTransaction { self.runAll(in: $0) } }
        }
    }

    /// The error of a read that failed in the last seconds; `nil` if no read failed.
    var recentFailure: StorageError? { trouble.withLock { $0.recent(at: .now) } }

    func close() async {
        await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { _ in
                self.reader.value = nil
                continuation.resume()
            }
        }
        try? queue.close()
    }

    /// Runs the waiting reads on the queue until no read is left. A failed read does not affect other reads.
    private func runAll(in database: Database) {
        while let jobs = nextJobs() {
            for job in jobs {
                let reader = Result { try startedReader(in: database) }
                if !job(reader) { abandonReader(in: database) }
            }
            do {
                try reader.value?.end()
            } catch {
                abandonReader(in: database)
            }
        }
    }

    private func startedReader(in database: Database) throws -> RowReader {
        let reader = try self.reader.value ?? RowReader(database)
        self.reader.value = reader
        if !database.isInsideTransaction { try reader.begin() }
        return reader
    }

    private func abandonReader(in database: Database) {
        reader.value = nil
        if database.isInsideTransaction { try? database.rollback() }
        forgetPages(in: database)
    }

    /// Drops the cached pages, because the damage may exist only in memory, or may have been repaired on the
    /// disk, and SQLite would otherwise not read the pages again.
    private func forgetPages(in database: Database) {
        try? database.execute(sql: "PRAGMA shrink_memory")
    }

    private func nextJobs() -> [Job]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// The last read error.
///
/// If a page is damaged, or the disk cannot read it, only the reads that need this page fail. A later
/// successful read therefore does not prove a repair, so a failure counts for a while.
struct ReadTrouble: Sendable {
    static let memory = Duration.seconds(10)

    private var last: (error: StorageError, at: ContinuousClock.Instant)?

    mutating func failed(_ error: StorageError, at now: ContinuousClock.Instant) {
        switch error.code {
        case .corrupted, .unavailable: last = (error, now)
        case .busy, .full, .readOnly, .schemaTooNew, .migrationFailed, .valueRefused: break
        }
    }

    func recent(at now: ContinuousClock.Instant) -> StorageError? {
        guard let last, now - last.at < Self.memory else { return nil }
        return last.error
    }
}

/// A value that is used on one dispatch queue only.
///
/// `@unchecked Sendable`: a connection is its only holder, and reads and writes `value` only in blocks on its
/// database's serial queue. So two blocks never run concurrently, and each block sees the previous block's
/// writes.
final class QueueConfined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
