import AppAttestation
public import AppleAccounts
public import SQLTables

/// Reads a database that replicas may be working on. It never writes, and does not migrate the schema.
public final class PostgresInspection: SQLReader, AuditReader {
    let pool: PostgresPool

    /// The schema version to which this program migrates a database.
    public static let knownSchemaVersion = Schema.migrations.count

    /// Creates the inspection without connecting. It connects at the first read.
    ///
    /// - Throws: `PostgresAddress.Refusal` for a URL that cannot be read.
    public init(url: String) throws {
        pool = PostgresPool(try PostgresURL(url), connections: 1, purpose: .inspection)
    }

    public func close() async {
        await pool.close()
    }

    /// Returns the schema version; 0 for a database without the service's tables.
    public func schemaVersion() async throws -> Int {
        try await pool.run { try Schema.version(in: $0).number }
    }

    /// Returns true if this program can work on the database now, or after a migration.
    public func isSchemaUsable() async throws -> Bool {
        try await pool.run { try Schema.version(in: $0).isUsable(knowing: Self.knownSchemaVersion) }
    }

    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await pool.run { try body($0) }
    }
}
