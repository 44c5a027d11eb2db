import AppleAccounts
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
    func watch(_ body: () async throws -> CommitResult) async throws -> CommitResult {
        do {
            let result = try await body()
            let failures = result.results.compactMap(\.failure)
            if failures.count < result.results.count {
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

extension CommandResult {
    fileprivate var failure: StorageError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
