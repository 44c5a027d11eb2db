import AppleAccounts
import Foundation
import GRDB

/// Remembers transfers, and gives a subject's row another name. It is rare, so its statements are not kept.
struct TransferWriter {
    let database: Database
    let names: Names

    func find(team: TeamID, transferSubject: AppleSubject) throws -> TransferRecord? {
        guard let number = try names.teams.number(of: team) else { return nil }
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT account_id, created_at, expires_at FROM transfer
                WHERE team_id = ? AND transfer_sub = ?
                """,
            arguments: [number, transferSubject.rawValue])
        guard let row, let account = UniqueID(row["account_id"] as Data) else { return nil }
        return TransferRecord(
            recipientTeam: team, transferSubject: transferSubject, accountID: AccountID(account), from: nil,
            createdAt: Moment(milliseconds: row["created_at"]),
            expiresAt: Moment(milliseconds: row["expires_at"]))
    }

    func insert(_ transfer: TransferRecord) throws {
        try database.execute(
            sql: """
                INSERT INTO transfer (team_id, transfer_sub, account_id, created_at, expires_at)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE account_id = ?3)
                ON CONFLICT (team_id, transfer_sub) DO UPDATE SET account_id = excluded.account_id,
                    created_at = excluded.created_at, expires_at = excluded.expires_at
                """,
            arguments: [
                try names.teams.ensureNumber(of: transfer.recipientTeam), transfer.transferSubject.rawValue,
                transfer.accountID.uniqueID.data, transfer.createdAt.milliseconds,
                transfer.expiresAt.milliseconds,
            ])
    }

    func forget(_ id: AccountID) throws {
        try database.execute(
            sql: "DELETE FROM transfer WHERE account_id = ?", arguments: [id.uniqueID.data])
    }

    /// Gives the row another name. All its credentials go; the caller saves them anew.
    ///
    /// - Parameter replacedRowID: Of the row that has the name so far, without account, if there is one.
    /// - Returns: Its place under the new name.
    func rename(rowID: Int64, to key: SubjectKey, replacing replacedRowID: Int64?) throws -> SubjectPlace {
        try database.execute(
            sql: "DELETE FROM credential WHERE subject_id IN (?, ?)", arguments: [rowID, replacedRowID])
        if let replacedRowID {
            try database.execute(
                sql: "UPDATE event SET subject_id = ? WHERE subject_id = ? AND account_id IS NULL",
                arguments: [rowID, replacedRowID])
            // To delete it would be to search all events for it.
            try database.execute(
                sql: """
                    UPDATE subject SET sub = char(1) || id, key_digest = key_digest(team_id, char(1) || id),
                        email = NULL, email_is_verified = NULL,
                        email_is_private = NULL, email_is_not_private = NULL, email_at = NULL, forwarding = NULL, forwarding_at = NULL
                    WHERE id = ?
                    """,
                arguments: [replacedRowID])
        }
        let team = try names.teams.ensureNumber(of: key.team)
        let digest = KeyDigest(team: team, name: key.subject.rawValue)
        try database.execute(
            sql: "UPDATE subject SET team_id = ?, sub = ?, key_digest = ? WHERE id = ?",
            arguments: [team, key.subject.rawValue, digest.data, rowID])
        return SubjectPlace(rowID: rowID, digest: digest)
    }
}
