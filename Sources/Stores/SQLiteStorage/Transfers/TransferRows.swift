import AppleAccounts
import GRDB
import SQLTables

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
