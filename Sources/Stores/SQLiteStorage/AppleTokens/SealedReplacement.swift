import AppleAccounts
import Foundation
import GRDB

/// Replaces sealed secrets. Runs in its caller's transaction.
struct SealedReplacement {
    let database: Database

    /// Returns `false` when the row is gone or was changed since it was read: a newer token must not be
    /// overwritten.
    func replace(_ change: SealedChange) throws -> Bool {
        let row = change.row
        let (new, old, id) = (Data(change.sealed.bytes), Data(row.sealed.bytes), row.cursor.id.data)
        switch row.cursor.place {
        case .code:
            try execute(
                "UPDATE authorization_code SET sealed = :new WHERE id = :id AND sealed = :old",
                ["new": new, "id": id, "old": old])
        case .token:
            try execute(
                """
                UPDATE refresh_token SET sealed = :new WHERE account_id = :id AND sealed = :old
                    AND client_id = (SELECT id FROM client WHERE name = :client)
                """, ["new": new, "id": id, "old": old, "client": row.clientID.rawValue])
        case .erasure:
            try execute(
                "UPDATE erasure_token SET sealed = :new WHERE id = :id AND sealed = :old",
                ["new": new, "id": id, "old": old])
        }
        return database.changesCount > 0
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
