public import AppleAccounts
import Foundation
import GRDB

/// The database file, opened to be read beside the running service: without its lock, and without any way to
/// change it. For the operator's tools.
public final class SQLiteReading: Sendable {
    /// The schema's version that is in the file.
    public let schemaVersion: Int
    /// The one that this version of the service would make of it.
    public static var currentSchemaVersion: Int { Schema.migrations.count }

    private let queue: DatabaseQueue

    init(path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StorageError(.unavailable, detail: "there is no file \(path)")
        }
        queue = try DatabaseQueue(path: path, configuration: .reading())
        schemaVersion = try queue.read { database in
            let version = try Schema.currentVersion(of: database)
            guard version <= Schema.migrations.count else {
                throw StorageError(.schemaTooNew, detail: "its schema is \(version)")
            }
            return version
        }
    }

    /// The accounts of a team that have a credential for an app, as `TransferStore` gives them.
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await read {
            try $0.transfers.accounts(team: team, clientID: clientID, after: after, limit: limit)
        }
            ?? []
    }

    /// Sealed secrets, as `GrantStore` gives them. None from a database whose schema has no place for them.
    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await read { try $0.sealed.page(after: cursor, limit: limit) } ?? []
    }

    public func sealedCount() async throws -> Int {
        try await read { try $0.sealedCount() } ?? 0
    }

    public func close() {
        try? queue.close()
    }

    /// Returns `nil` when the schema is older than what is asked for.
    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (GrantReader) throws -> Value
    ) async throws -> Value? {
        guard schemaVersion >= Migration.second.number else { return nil }
        do {
            return try await queue.read { database in
                try body(GrantReader(Names(writes: false, in: database), in: database))
            }
        } catch {
            throw StorageError(error)
        }
    }
}
