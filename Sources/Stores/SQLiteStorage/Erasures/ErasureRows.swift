import AppleAccounts
import GRDB
import SQLTables

/// Reads erasures with their apps and tokens.
final class ErasureRows {
    private let names: Names
    private let byID: PreparedStatement
    private let idToFind: Parameter<ErasureID>
    private let byAccount: PreparedStatement
    private let accountToFind: Parameter<AccountID>
    private let columns: ErasureTable
    private let findApps: PreparedStatement
    private let appColumns: ErasureAppTable
    private let findGrants: PreparedStatement
    private let grantColumns: ErasureTokenTable
    private let erasureOfRows: Parameter<ErasureID>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var list = SelectList()
        columns = list.add(ErasureTable.self)
        var (idParameters, accountParameters) = (ParameterList(), ParameterList())
        idToFind = idParameters.add(ErasureID.self)
        accountToFind = accountParameters.add(AccountID.self)
        byID = try PreparedStatement("SELECT \(list) FROM erasure WHERE id = \(idToFind)", in: database)
        byAccount = try PreparedStatement(
            "SELECT \(list) FROM erasure WHERE account_id = \(accountToFind)", in: database)

        var rowParameters = ParameterList()
        erasureOfRows = rowParameters.add(ErasureID.self)
        var appList = SelectList()
        appColumns = appList.add(ErasureAppTable.self)
        findApps = try PreparedStatement(
            "SELECT \(appList) FROM erasure_app WHERE erasure_id = \(erasureOfRows)", in: database)
        var grantList = SelectList()
        grantColumns = grantList.add(ErasureTokenTable.self, .token)
        findGrants = try PreparedStatement(
            "SELECT \(grantList) FROM erasure_token WHERE erasure_id = \(erasureOfRows) ORDER BY id",
            in: database)
    }

    func find(_ id: ErasureID) throws -> ErasureRecord? {
        byID.begin()
        byID.bind(id, to: idToFind)
        return try read(byID)
    }

    func find(of id: AccountID) throws -> ErasureRecord? {
        byAccount.begin()
        byAccount.bind(id, to: accountToFind)
        return try read(byAccount)
    }

    private func read(_ statement: PreparedStatement) throws -> ErasureRecord? {
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        let id = try statement.required(columns.id)
        return try columns.record(
            statement, team: names.teams.name(of: statement.required(columns.teamID)), apps: apps(of: id),
            tokens: tokens(of: id))
    }

    private func apps(of erasure: ErasureID) throws -> [ErasedApp] {
        findApps.begin()
        findApps.bind(erasure, to: erasureOfRows)
        defer { findApps.finish() }
        var apps: [ErasedApp] = []
        while try findApps.step() {
            let clientID = try names.apps.name(of: findApps.required(appColumns.appID))
            apps.append(try appColumns.app(findApps, clientID: clientID))
        }
        return apps.sorted { $0.clientID < $1.clientID }
    }

    private func tokens(of erasure: ErasureID) throws -> [ErasureToken] {
        findGrants.begin()
        findGrants.bind(erasure, to: erasureOfRows)
        defer { findGrants.finish() }
        var tokens: [ErasureToken] = []
        while try findGrants.step() { tokens.append(try grantColumns.token(findGrants, names)) }
        return tokens
    }
}
