public import AppleAccounts
public import AuthorizationServer
import SQLTables

/// A look at a database that replicas may be working on. It only reads, and brings no schema up to date.
public final class PostgresInspection: Sendable {
    private struct Clients {
        let call: PostgresCall
        let name: Column<ClientID>

        init() {
            var list = SelectList()
            name = list.add("name", ClientID.self, as: "name")
            call = PostgresCall(
                PostgresStatement(
                    "inspect_clients",
                    """
                    SELECT \(list) FROM app WHERE id > 0
                        AND EXISTS (SELECT 1 FROM credential WHERE credential.app_id = app.id) ORDER BY name
                    """))
        }
    }

    private static let clients = Clients()

    let pool: PostgresPool
    private let store: PostgresAccountStore

    /// The version of the schema that this program would bring a database to.
    public static let knownSchemaVersion = Schema.migrations.count

    /// Connects when it is first asked.
    ///
    /// - Throws: `StorageError` for a URL that cannot be read.
    public init(url: String) throws {
        pool = PostgresPool(try PostgresURL(url), connections: 1, purpose: .inspection)
        store = PostgresAccountStore(pool: pool)
    }

    public func close() async {
        await pool.close()
    }

    /// 0 for a database that has none of our tables.
    public func schemaVersion() async throws -> Int {
        try await pool.run { try Schema.version(in: $0).number }
    }

    /// Whether this program can work on the database as it is, or will once it has brought it up to date.
    public func isSchemaUsable() async throws -> Bool {
        try await pool.run { try Schema.version(in: $0).isUsable(knowing: Self.knownSchemaVersion) }
    }

    /// The apps for which something is stored, by their primary client IDs.
    public func primaryClientIDs() async throws -> [ClientID] {
        try await pool.run { session in
            try session.run(Self.clients.call).compactMap { $0[Self.clients.name] }
        }
    }

    /// As `TransferStore` says. The schema must be the one that this program knows.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await store.accounts(team: team, clientID: clientID, after: after, limit: limit)
    }

    /// As `GrantStore` says. The schema must be the one that this program knows.
    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await store.sealedSecrets(after: cursor, limit: limit)
    }

    /// As `AuthorizationStore` says. The schema must be the one that this program knows.
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await store.signingKeys()
    }
}
