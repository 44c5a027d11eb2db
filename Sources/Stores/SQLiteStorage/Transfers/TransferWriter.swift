import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// Stores transfers, and re-keys subjects' rows. Transfers are rare, so the statements are not kept.
struct TransferWriter {
    /// The look-up of one transfer, with its parameters and columns.
    private struct Find {
        let sql: String
        let team: Parameter<Int64>
        let subject: Parameter<String>
        let columns: TransferTable

        init() {
            var parameters = ParameterList()
            (team, subject) = (parameters.add(Int64.self), parameters.add(String.self))
            var list = SelectList()
            columns = list.add(TransferTable.self)
            sql = "SELECT \(list) FROM transfer WHERE team_id = \(team) AND transfer_sub = \(subject)"
        }
    }

    /// The INSERT of one transfer. It does nothing for an erased account.
    private struct Insert {
        let sql: String
        let columns: TransferTable

        init() {
            var parameters = ParameterList()
            let bound = parameters.add(columnsOf: TransferTable.self)
            columns = bound.columns
            sql = """
                INSERT INTO transfer (\(bound.names))
                SELECT \(bound.values)
                WHERE NOT EXISTS (SELECT 1 FROM erasure WHERE account_id = \(bound[\.accountID]))
                ON CONFLICT (team_id, transfer_sub)
                DO UPDATE SET \(TransferTable.names(.values).assigned(from: "excluded"))
                """
        }
    }

    private static let find = Find()
    private static let insert = Insert()
    // A deletion would have to search all events for the row.
    private static let clearReplaced = """
        UPDATE subject
        SET \(SQLiteSubjectTable.clearing(subject: "char(1) || id", keyDigest: "key_digest(team_id, char(1) || id)"))
        WHERE id = :replaced
        """

    let database: Database
    let names: Names

    func find(team: TeamID, transferSubject: AppleSubject) throws -> TransferRecord? {
        guard let number = try names.teams.number(of: team) else { return nil }
        let statement = try PreparedStatement(Self.find.sql, in: database)
        statement.begin()
        statement.bind(number, to: Self.find.team)
        statement.bind(transferSubject.rawValue, to: Self.find.subject)
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        return try Self.find.columns.record(statement, team: team, transferSubject: transferSubject)
    }

    func insert(_ transfer: TransferRecord) throws {
        let team = try names.teams.ensureNumber(of: transfer.recipientTeam)
        let statement = try PreparedStatement(Self.insert.sql, in: database)
        statement.begin()
        Self.insert.columns.write(transfer, to: statement)
        statement.set(Self.insert.columns.teamID, team)
        try statement.execute()
    }

    func forget(_ id: AccountID) throws {
        try database.execute(
            sql: "DELETE FROM transfer WHERE account_id = :account",
            arguments: ["account": id.uniqueID.data])
    }

    /// Re-keys the row and deletes its credentials; the caller saves them again.
    ///
    /// - Parameter replacedRowID: ID of the row without account that has the new key so far, if any.
    /// - Returns: The location under the new key.
    func rename(rowID: Int64, to key: SubjectKey, replacing replacedRowID: Int64?) throws -> SubjectPlace {
        try database.execute(
            sql: "DELETE FROM credential WHERE subject_id IN (:row, :replaced)",
            arguments: ["row": rowID, "replaced": replacedRowID])
        if let replacedRowID {
            try database.execute(
                sql: "UPDATE event SET subject_id = :row WHERE subject_id = :replaced AND account_id IS NULL",
                arguments: ["row": rowID, "replaced": replacedRowID])
            try database.execute(sql: Self.clearReplaced, arguments: ["replaced": replacedRowID])
        }
        let team = try names.teams.ensureNumber(of: key.team)
        let digest = KeyDigest(team: team, name: key.subject.rawValue)
        try database.execute(
            sql: "UPDATE subject SET team_id = :team, sub = :sub, key_digest = :digest WHERE id = :row",
            arguments: ["team": team, "sub": key.subject.rawValue, "digest": digest.data, "row": rowID])
        return SubjectPlace(rowID: rowID, digest: digest)
    }
}
