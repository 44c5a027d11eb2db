import AppAttestation
public import AppleAccounts
import AuthorizationServer
import GRDB
public import SQLTables

/// Reads a database file that the service may have open at the same time. It never writes: it takes no lock,
/// migrates no schema and creates no file.
public final class SQLiteInspection: Sendable {
    private let queue: DatabaseQueue
    private let reader: ReadConnection

    /// Version of the schema to which this program migrates a database.
    public static let knownSchemaVersion = Schema.migrations.count

    /// Throws `StorageError`, `.unavailable` when there is no file.
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

    /// Returns 0 for a new, empty file; `nil` for another program's file.
    public func schemaVersion() async throws -> Int? {
        try await look { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let owner = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if owner == Schema.applicationID { return version }
            return version == 0 && owner == 0 && tables == 0 ? 0 : nil
        }
    }

    /// Returns the apps with stored rows, by their primary client IDs.
    public func primaryClientIDs() async throws -> [ClientID] {
        try await look { database in
            let names = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM app WHERE id > 0
                        AND EXISTS (SELECT 1 FROM credential WHERE credential.app_id = app.id) ORDER BY name
                    """)
            return names.compactMap { ClientID($0) }
        }
    }

    /// Implements the contract of `TransferStore`. The schema must have the version that this program knows.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await reader.read {
            try $0.tokens().transfers.accounts(team: team, clientID: clientID, after: after, limit: limit)
        }
    }

    /// Implements the contract of `AuthorizationStore`. The schema must have the version that this program
    /// knows.
    public func lastGoogleEvent() async throws -> Moment? {
        try await reader.read { try $0.oauth().lastGoogleEvent() }
    }

    /// Implements the contract of `AuthorizationStore`. The schema must have the version that this program
    /// knows.
    public func googleVerification(_ state: String) async throws -> Moment? {
        try await reader.read { try $0.oauth().googleVerification(state) }
    }

    /// Implements the contract of `AccountStore`. The schema must have the version that this program knows.
    public func lastEventSequence() async throws -> Int64 {
        try await reader.read { try $0.events.lastSequence() }
    }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditChain() async throws -> AuditChain { try await reader.read { try $0.audit().chain() } }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(after: sequence, limit: limit) }
    }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(before: sequence, of: account, limit: limit) }
    }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await reader.read { try $0.audit().sequence(at: moment) }
    }

    private func look<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws
        -> Value
    {
        do {
            return try await queue.read(body)
        } catch {
            throw StorageError(error)
        }
    }
}

extension SQLiteInspection: SQLReader {
    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await reader.read { try body($0) }
    }
}
