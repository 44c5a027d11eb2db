public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
import SQLTables

/// Reads a database that replicas may be working on. It never writes, and migrates no schema.
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

    /// Version of the schema to which this program migrates a database.
    public static let knownSchemaVersion = Schema.migrations.count

    /// Creates the inspection. It connects at the first read.
    ///
    /// - Throws: `StorageError` for a URL that cannot be read.
    public init(url: String) throws {
        pool = PostgresPool(try PostgresURL(url), connections: 1, purpose: .inspection)
        store = PostgresAccountStore(pool: pool)
    }

    public func close() async {
        await pool.close()
    }

    /// Returns 0 for a database without our tables.
    public func schemaVersion() async throws -> Int {
        try await pool.run { try Schema.version(in: $0).number }
    }

    /// Returns true if this program can work on the database as it is, or after migrating it.
    public func isSchemaUsable() async throws -> Bool {
        try await pool.run { try Schema.version(in: $0).isUsable(knowing: Self.knownSchemaVersion) }
    }

    /// Returns the apps with stored rows, by their primary client IDs.
    public func primaryClientIDs() async throws -> [ClientID] {
        try await pool.run { session in
            try session.run(Self.clients.call).compactMap { $0[Self.clients.name] }
        }
    }

    /// Implements the contract of `TransferStore`. The schema must have the version that this program knows.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await store.accounts(team: team, clientID: clientID, after: after, limit: limit)
    }

    /// Implements the contract of `AppleTokenStore`. The schema must have the version that this program knows.
    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await store.sealedSecrets(after: cursor, limit: limit)
    }

    /// Implements the contract of `AuthorizationStore`. The schema must have the version that this program
    /// knows.
    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await store.signingKeys()
    }

    /// Implements the contract of `AuthorizationStore`. The schema must have the version that this program
    /// knows.
    public func lastGoogleEvent() async throws -> Moment? {
        try await store.lastGoogleEvent()
    }

    /// Implements the contract of `AuthorizationStore`. The schema must have the version that this program
    /// knows.
    public func googleVerification(_ state: String) async throws -> Moment? {
        try await store.googleVerification(state)
    }

    /// Implements the contract of `AppCheckHourStore`. The schema must have the version that this program
    /// knows.
    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        try await store.appCheckHours(of: targets, from: hour)
    }

    /// Implements the contract of `DeliveryStore`. The schema must have the version that this program knows.
    public func receivers() async throws -> [ClaimedReceiver] { try await store.receivers() }

    /// Implements the contract of `AccountStore`. The schema must have the version that this program knows.
    public func lastEventSequence() async throws -> Int64 { try await store.lastEventSequence() }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditChain() async throws -> AuditChain { try await store.auditChain() }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await store.auditRows(after: sequence, limit: limit)
    }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await store.auditRows(before: sequence, of: account, limit: limit)
    }

    /// Implements the contract of `AuditReader`. The schema must have the version that this program knows.
    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await store.auditSequence(at: moment)
    }
}
