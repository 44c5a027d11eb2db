import AppleAccounts
import AuthorizationServer
import Synchronization

/// Whether the store could take a command now.
final class StoreHealth: Sendable {
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

    private let hasFailed = Mutex(false)

    /// Remembers whether the last attempt to write failed.
    func watch<Result: WatchedResult>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            let failures = result.failures
            if failures.count < result.count {
                hasFailed.withLock { $0 = false }
            } else if failures.contains(where: { $0.code != .valueRefused }) {
                hasFailed.withLock { $0 = true }
            }
            return result
        } catch {
            if StorageError(error).code != .valueRefused { hasFailed.withLock { $0 = true } }
            throw error
        }
    }

    /// Reads. After a write has failed it writes too, because only that tells whether the database takes
    /// writes again.
    func check(_ pool: PostgresPool) async throws {
        let mustWrite = hasFailed.withLock { $0 }
        try await pool.run { session in
            let rows = try session.run(Self.read)
            _ = try rows.requireEventCounter()
            guard rows.onlyValue(as: Bool.self) == false else {
                session.isReadOnly = true
                throw StorageError(.readOnly, detail: "the server takes no writes")
            }
            if mustWrite { _ = try session.run(Self.write) }
        }
        if mustWrite { hasFailed.withLock { $0 = false } }
    }
}

/// What became of the commands of a batch that the database took as a whole.
protocol WatchedResult: Sendable {
    var count: Int { get }
    /// Of the commands that it refused for their own sake.
    var failures: [StorageError] { get }
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
