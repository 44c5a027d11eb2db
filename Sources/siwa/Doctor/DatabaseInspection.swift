import AppleAccounts
import PostgresStorage
import SQLiteStorage

/// A look at a database that the service may have open at the same time. It changes nothing.
protocol DatabaseInspection: Sendable {
    func schema() async throws -> InspectedSchema
    /// The apps for which something is stored, by their primary client IDs.
    func primaryClientIDs() async throws -> [ClientID]
    /// As `TransferStore` says. The schema must be the present one.
    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount]
    /// As `GrantStore` says. The schema must be the present one.
    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow]
    func close() async
}

/// What a database holds, seen by this program.
enum InspectedSchema: Equatable {
    /// Nothing yet.
    case empty
    /// What another program has stored.
    case foreign
    /// Of a version that `siwa serve` brings up to date.
    case older
    /// Of this version, or of a later one that this one can work on.
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
