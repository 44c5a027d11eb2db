public import AppleAccounts
import Foundation
import GRDB
import SQLTables

extension SQLiteAccountStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        try await reader.read {
            try $0.tokens().transfers.accounts(team: team, clientID: clientID, after: after, limit: limit)
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        try await writer.write { writer in
            for transfer in transfers { try writer.transfers.insert(transfer) }
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM transfer WHERE (team_id, transfer_sub) IN (
                        SELECT team_id, transfer_sub FROM transfer WHERE expires_at < :end
                        ORDER BY expires_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}

/// Reads the accounts of an app that may be transferred.
final class TransferRows {
    private let names: Names
    private let findAccounts: PreparedStatement
    private let start: Parameter<AccountID>
    private let team: Parameter<Int64>
    private let app: Parameter<Int64>
    private let limit: Parameter<Int64>
    private let columns: SubjectTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        start = parameters.add(AccountID.self)
        team = parameters.add(Int64.self)
        app = parameters.add(Int64.self)
        limit = parameters.add(Int64.self)
        var list = SelectList()
        columns = list.add(SubjectTable.self, as: "s", .only { [$0.accountID, $0.subject, $0.createdAt] })
        findAccounts = try PreparedStatement(
            """
            SELECT \(list) FROM subject s
            WHERE s.account_id > \(start) AND s.team_id = \(team)
                AND EXISTS (SELECT 1 FROM credential c WHERE c.subject_id = s.id AND c.app_id = \(app))
            ORDER BY s.account_id LIMIT \(limit)
            """, in: database)
    }

    func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) throws -> [TransferableAccount] {
        guard let teamNumber = try names.teams.number(of: team),
            let appNumber = try names.apps.number(of: clientID)
        else { return [] }
        findAccounts.begin()
        findAccounts.bind(after ?? AccountID(UniqueID(high: 0, low: 0)), to: start)
        findAccounts.bind(teamNumber, to: self.team)
        findAccounts.bind(appNumber, to: app)
        findAccounts.bind(Int64(limit), to: self.limit)
        defer { findAccounts.finish() }
        var accounts: [TransferableAccount] = []
        while try findAccounts.step() {
            guard let subject = AppleSubject(try findAccounts.required(columns.subject)) else {
                throw StorageError(
                    .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
            }
            accounts.append(
                TransferableAccount(
                    accountID: try findAccounts.required(columns.accountID), subject: subject,
                    createdAt: try findAccounts.required(columns.createdAt)))
        }
        return accounts
    }
}

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
