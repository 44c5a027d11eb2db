import AppleAccounts
import AuthorizationServer
import Synchronization

/// The store's health: its ability to accept a command now.
///
/// Once a kind of write has failed, it counts as failing until a real write of that kind succeeds: a
/// request's write, or a rehearsal of the failed write. A small write can succeed on a full disk, and a write
/// to one row can succeed while another row is locked, so neither proves that other writes succeed.
final class StoreHealth: Sendable {
    /// Kinds of writes that can fail independently, because on a full disk one table can still have room, and
    /// a lock on one table does not affect the others.
    enum Kind: CaseIterable { case accounts, grants, tickets }

    /// Retries a failed write, in a transaction that it does not commit.
    typealias Rehearsal = @Sendable (PostgresSession) throws -> Void

    private struct Failure {
        let number: UInt64
        let error: StorageError
        let rehearsal: Rehearsal
    }

    private struct State {
        var nextNumber: UInt64 = 0
        var failures: [Kind: Failure] = [:]
        /// Start times of running writes.
        var running: [UInt64: ContinuousClock.Instant] = [:]
        var check: (task: Task<Void, any Error>, began: ContinuousClock.Instant)?
        /// The last check's error, and its time.
        var lastError: StorageError?
        var failedAt: ContinuousClock.Instant?

        mutating func makeNumber() -> UInt64 {
            nextNumber += 1
            return nextNumber
        }
    }

    private enum Look { case join(Task<Void, any Error>), fail(StorageError) }

    /// Time after which a write counts as blocked by a lock, a standby or a server that does not respond.
    static let longestWrite = Duration.seconds(2)

    /// Time for which a rehearsal's result is reused, because any client can request a check, and each
    /// rehearsal takes locks.
    static let pause = Duration.seconds(1)

    private static let read = PostgresCall(
        PostgresStatement(
            "check_health", "SELECT current_setting('transaction_read_only') = 'on' FROM event_counter"))

    private static let write = PostgresCall(
        PostgresStatement(
            "probe_health",
            """
            INSERT INTO health_probe AS p (id, count) VALUES (1, 1)
            ON CONFLICT (id) DO UPDATE SET count = p.count + 1
            """))

    private let state = Mutex(State())
    private let onFailure: @Sendable (StorageError) -> Void

    /// - Parameter onFailure: Called with the error of each failed command in a transaction that committed.
    ///   The pool reports failures of whole transactions. It must not block.
    init(onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }) {
        self.onFailure = onFailure
    }

    /// Records the success or failure of a write attempt.
    func watch<Result: WatchedResult>(
        _ kind: Kind, rehearsal: @escaping Rehearsal, _ body: () async throws -> Result
    ) async throws -> Result {
        let number = state.withLock { state in
            let number = state.makeNumber()
            state.running[number] = .now
            return number
        }
        defer { _ = state.withLock { $0.running.removeValue(forKey: number) } }
        do {
            let result = try await body()
            let failures = result.failures
            if failures.count < result.count {
                succeeded(kind)
            } else if let failure = failures.first(where: { $0.code != .valueRefused }) {
                failed(kind, failure, rehearsal)
                onFailure(failure)
            }
            return result
        } catch {
            let failure = StorageError(error)
            if failure.code != .valueRefused, !(error is CancellationError) {
                failed(kind, failure, rehearsal)
            }
            throw error
        }
    }

    /// Reads from the database. After a failed write it also writes, because only a write can show that the
    /// database accepts writes again.
    ///
    /// Only one check runs at a time. Concurrent callers get its result or, immediately, the known failure,
    /// so that probes use no second connection while the database does not respond.
    func check(_ pool: PostgresPool) async throws {
        let now = ContinuousClock.now
        let look: Look = state.withLock { state in
            if let began = state.running.values.min(), now - began >= Self.longestWrite {
                return .fail(Self.doesNotComeBack)
            }
            guard let check = state.check else {
                if !state.failures.isEmpty, let error = state.lastError, let failedAt = state.failedAt,
                    now - failedAt < Self.pause
                {
                    return .fail(error)
                }
                // This task has no parent, because cancelling one caller must not cancel the check for other
                // callers.
                let task = Task { try await self.lookNow(pool) }
                state.check = (task, now)
                return .join(task)
            }
            if let known = state.lastError ?? state.failures.values.first?.error { return .fail(known) }
            guard now - check.began < Self.longestWrite else { return .fail(Self.doesNotComeBack) }
            return .join(check.task)
        }
        switch look {
        case .join(let task): try await task.value
        case .fail(let error): throw error
        }
    }

    private static var doesNotComeBack: StorageError {
        StorageError(.busy, detail: "the transaction under way does not come back")
    }

    private func failed(_ kind: Kind, _ error: StorageError, _ rehearsal: @escaping Rehearsal) {
        state.withLock { state in
            state.failures[kind] = Failure(number: state.makeNumber(), error: error, rehearsal: rehearsal)
        }
    }

    private func succeeded(_ kind: Kind) {
        state.withLock { state in
            // On a full disk, a few writes still fit where rows have been removed. Only a check for free
            // space proves that the disk has room.
            if state.failures[kind]?.error.code != .full { state.failures[kind] = nil }
            if state.failures.isEmpty { state.lastError = nil }
        }
    }

    private func lookNow(_ pool: PostgresPool) async throws {
        do {
            try await look(pool)
            end(nil)
        } catch {
            end(StorageError(error))
            throw error
        }
    }

    private func end(_ error: StorageError?) {
        state.withLock { state in
            (state.check, state.lastError) = (nil, error)
            state.failedAt = error == nil ? nil : .now
        }
    }

    private func look(_ pool: PostgresPool) async throws {
        try await pool.run { session in
            let rows = try session.run(Self.read)
            _ = try rows.requireEventCounter()
            guard rows.onlyValue(as: Bool.self) == false else {
                session.isReadOnly = true
                throw StorageError(.readOnly, detail: "the server takes no writes")
            }
        }
        let failures = state.withLock { $0.failures }
        guard !failures.isEmpty else { return }
        for failure in failures.values { try await rehearse(failure, in: pool) }
        // A rehearsal omits the commit, and therefore its wait for the disk and for standbys.
        try await pool.run { session in
            let usual = session.deadlines
            defer { session.deadlines = usual }
            session.deadlines.response = Self.longestWrite
            _ = try session.run(Self.write)
        }
        state.withLock { state in
            for (kind, failure) in failures where state.failures[kind]?.number == failure.number {
                state.failures[kind] = nil
            }
        }
    }

    private func rehearse(_ failure: Failure, in pool: PostgresPool) async throws {
        do {
            try await pool.run { session in
                if failure.error.code == .full { try DiskRoom.require(in: session) }
                try session.rehearse { try failure.rehearsal(session) }
            }
        } catch let error as StorageError where error.code == .valueRefused {
            // The value caused the failure, so the database did respond.
        }
    }
}

/// The results of a batch that the database accepted as a whole.
protocol WatchedResult: Sendable {
    var count: Int { get }
    /// The errors of commands whose own values the database refused.
    var failures: [StorageError] { get }
}

/// A single write's result: success or failure.
extension Bool: WatchedResult {
    var count: Int { 1 }
    var failures: [StorageError] { [] }
}

extension CommitResult: WatchedResult {
    var count: Int { results.count }
    var failures: [StorageError] {
        results.compactMap { result in
            if case .failed(let error) = result { error } else { nil }
        }
    }
}

extension GrantCommitResult: WatchedResult {
    var count: Int { results.count }
    var failures: [StorageError] {
        results.compactMap { result in
            if case .failure(let error) = result { error as? StorageError } else { nil }
        }
    }
}

/// Checks for room on the database's disk by allocating space, because even on a full disk the database can
/// store a row in place of another row or in the rest of a page.
enum DiskRoom {
    /// Writes a separate file of 1 MiB, which is deleted when the transaction ends. The file is temporary, so
    /// it costs no write-ahead log, and it is in the database's default tablespace.
    private static let take = """
        BEGIN;
        SET LOCAL temp_tablespaces = '';
        CREATE TEMPORARY TABLE siwa_room (filler text) ON COMMIT DROP;
        ALTER TABLE siwa_room ALTER filler SET STORAGE PLAIN;
        INSERT INTO siwa_room SELECT repeat('x', 8000) FROM generate_series(1, 130);
        ROLLBACK
        """

    /// - Throws: `PostgresError` of class 53 if there is no room. For a role that may not create temporary
    ///   tables, the check always passes.
    static func require(in session: PostgresSession) throws {
        do {
            try session.execute(script: take, name: "take_room")
        } catch let error as PostgresError where error.sqlState.hasPrefix("42") {
            try session.rollBack()
        }
    }
}
