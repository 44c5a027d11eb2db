import AppAttestation
public import AppleAccounts
import GRDB
public import SQLTables

/// Reads a database file that the service may have open at the same time. It never writes: it takes no
/// lock, does not migrate the schema, and creates no file.
public final class SQLiteInspection: SQLReader, AuditReader {
    private let queue: DatabaseQueue
    private let reader: ReadConnection

    /// The schema version to which this program migrates a database.
    public static let knownSchemaVersion = Schema.migrations.count

    /// Opens the file. Throws `StorageError`, `.unavailable` if there is no file.
    public init(path: String) throws {
        do {
            queue = try DatabaseQueue(path: path, configuration: .reading())
            reader = try ReadConnection(path: path)
        } catch {
            throw StorageError(error)
        }
    }

    public func close() async {
        await reader.close()
        try? queue.close()
    }

    /// Returns the schema version: 0 for a new, empty file; `nil` for another program's file.
    public func schemaVersion() async throws -> Int? {
        do {
            return try await queue.read { try Schema.version(of: $0) }
        } catch {
            throw StorageError(error)
        }
    }

    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await reader.read { try body($0.shared) }
    }
}
