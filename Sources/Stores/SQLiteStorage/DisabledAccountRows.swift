public import AppleAccounts
import GRDB
import SQLTables

extension SQLiteAccountStore {
    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await reader.read { try $0.tokens().disabled.accounts(until: moment, limit: limit) }
    }
}

/// Finds accounts whose disabling is over, by an index that has the disabled accounts only.
final class DisabledAccountRows {
    private let names: Names
    private let find: PreparedStatement
    private let end: Parameter<Moment>
    private let limit: Parameter<Int64>
    private let columns: SubjectTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        (end, limit) = (parameters.add(Moment.self), parameters.add(Int64.self))
        var list = SelectList()
        columns = list.add(SubjectTable.self, as: "s", .only { [$0.accountID, $0.teamID, $0.subject] })
        find = try PreparedStatement(
            """
            SELECT \(list) FROM credential c CROSS JOIN subject s ON s.id = c.subject_id
            WHERE c.disabled_until <= \(end) AND s.account_id IS NOT NULL
            ORDER BY c.disabled_until LIMIT \(limit)
            """, in: database)
    }

    func accounts(until moment: Moment, limit: Int) throws -> [DisabledAccount] {
        find.begin()
        find.bind(moment, to: end)
        find.bind(Int64(limit), to: self.limit)
        defer { find.finish() }
        var accounts: [DisabledAccount] = []
        while try find.step() {
            guard let subject = AppleSubject(try find.required(columns.subject)) else {
                throw StorageError(
                    .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
            }
            let team = try names.teams.name(of: find.required(columns.teamID))
            accounts.append(
                DisabledAccount(
                    accountID: try find.required(columns.accountID),
                    key: SubjectKey(team: team, subject: subject)))
        }
        return accounts
    }
}
