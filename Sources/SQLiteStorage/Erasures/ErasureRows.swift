import AppleAccounts
import GRDB
import SQLTables

/// Reads erasures with their apps and grants.
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
    private let grantColumns: ErasureGrantTable
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
        grantColumns = grantList.add(ErasureGrantTable.self, .grant)
        findGrants = try PreparedStatement(
            "SELECT \(grantList) FROM erasure_grant WHERE erasure_id = \(erasureOfRows) ORDER BY id",
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
            grants: grants(of: id))
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

    private func grants(of erasure: ErasureID) throws -> [ErasureGrant] {
        findGrants.begin()
        findGrants.bind(erasure, to: erasureOfRows)
        defer { findGrants.finish() }
        var grants: [ErasureGrant] = []
        while try findGrants.step() { grants.append(try grantColumns.grant(findGrants, names)) }
        return grants
    }
}
