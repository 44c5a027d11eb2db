public import AppleAccounts
public import AuthorizationServer
import GRDB

/// A look at a database file that the service may have open at the same time. It only reads: it takes no
/// lock, brings no schema up to date and makes no file.
public final class SQLiteInspection: Sendable {
    private let queue: DatabaseQueue
    private let reader: ReadConnection

    /// The version of the schema that this program would bring a database to.
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

    /// 0 for a new, empty file; `nil` for another program's.
    public func schemaVersion() async throws -> Int? {
        try await look { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let owner = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if owner == Schema.applicationID { return version }
            return version == 0 && owner == 0 && tables == 0 ? 0 : nil
        }
    }

    /// The apps for which something is stored, by their primary client IDs.
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

    /// As `TransferStore` says. The schema must be the one that this program knows.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await reader.read {
            try $0.grants().transfers.accounts(team: team, clientID: clientID, after: after, limit: limit)
        }
    }

    /// As `GrantStore` says. The schema must be the one that this program knows.
    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await reader.read { try $0.grants().sealed.page(after: cursor, limit: limit) }
    }

    /// As `AuthorizationStore` says. The schema must be the one that this program knows.
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await reader.read { try $0.oauth().signingKeys() }
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
