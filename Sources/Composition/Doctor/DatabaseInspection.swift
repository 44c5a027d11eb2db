package import AppAttestation
package import AppleAccounts
package import AuthorizationServer
import PostgresStorage
import SQLTables
import SQLiteStorage

/// Reads a database without changing it. The service may have the database open at the same time.
package protocol DatabaseInspection: AuditReader {
    func schema() async throws -> InspectedSchema
    /// Returns the primary client IDs of the apps that have stored data.
    func primaryClientIDs() async throws -> [ClientID]
    /// See `TransferStore`. Requires the current schema.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]
    /// See `AppleTokenStore`. Requires the current schema.
    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow]
    /// See `AuthorizationStore`. Requires the current schema.
    func signingKeys() async throws -> [SigningKeyRecord]
    /// See `AuthorizationStore`. Requires the current schema.
    func lastGoogleEvent() async throws -> Moment?
    /// See `AuthorizationStore`. Requires the current schema.
    func googleVerification(_ state: String) async throws -> Moment?
    /// See `AppCheckHourStore`. Requires the current schema.
    func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour]
    /// See `DeliveryStore`. Requires the current schema.
    func receivers() async throws -> [ClaimedReceiver]
    /// See `AccountStore`. Requires the current schema.
    func lastEventSequence() async throws -> Int64
    func close() async
}

/// The state of a database schema.
package enum InspectedSchema: Equatable {
    /// The database is empty.
    case empty
    /// The database belongs to another program.
    case foreign
    /// The database has an older version's schema, which `siwa serve` migrates.
    case older
    /// The database has this version's schema, or a later schema that this version supports.
    case present
    case newer
}

extension SQLiteInspection: DatabaseInspection {
    func schema() async throws -> InspectedSchema {
        switch try await schemaVersion() {
        case nil: .foreign
        case 0?: .empty
        case let version? where version < Self.knownSchemaVersion: .older
        case let version? where version > Self.knownSchemaVersion: .newer
        case _?: .present
        }
    }
}

extension PostgresInspection: DatabaseInspection {
    func schema() async throws -> InspectedSchema {
        let version = try await schemaVersion()
        guard version > 0 else { return .empty }
        guard try await isSchemaUsable() else { return .newer }
        return version < Self.knownSchemaVersion ? .older : .present
    }
}

extension DatabaseLocation {
    /// Opens the database for reading, even while the service runs. Throws `StorageError` if that fails.
    package func inspection() throws -> any DatabaseInspection {
        switch self {
        case .sqlite(let path): try SQLiteInspection(path: path)
        case .postgres(let address): try PostgresInspection(url: address.text)
        }
    }
}
