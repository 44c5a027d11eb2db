import AppleAccounts
import Foundation
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

/// Writes the progress of the Apple codes and tokens of erased accounts.
struct ErasureProgress {
    /// The UPDATE of one entry, with its parameters.
    private struct Save {
        let sql: String
        let columns: ErasureTokenTable
        let id: Parameter<UniqueID>
        let erasure: Parameter<ErasureID>

        init() {
            var parameters = ParameterList()
            let progress = parameters.add(columnsOf: ErasureTokenTable.self, .progress)
            columns = progress.columns
            id = parameters.add(UniqueID.self)
            erasure = parameters.add(ErasureID.self)
            sql = """
                UPDATE erasure_token SET \(progress.assignments)
                WHERE id = \(id) AND erasure_id = \(erasure) AND step < 4
                """
        }
    }

    private static let save = Save()

    let database: Database

    func save(_ token: ErasureToken, of erasure: ErasureID, at moment: Moment) throws {
        var saved = token
        saved.isClaimed = false
        if token.isDone { saved.sealed = nil }
        let statement = try PreparedStatement(Self.save.sql, in: database)
        statement.begin()
        Self.save.columns.write(saved, of: erasure, to: statement)
        statement.bind(token.id, to: Self.save.id)
        statement.bind(erasure, to: Self.save.erasure)
        try statement.execute()
        guard token.isDone, database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                UPDATE erasure SET finished_at = :time WHERE id = :id AND finished_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM erasure_token WHERE erasure_id = :id AND step < 4)
                """,
            arguments: ["time": moment.milliseconds, "id": erasure.uniqueID.data])
    }

    func adopt(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) throws -> Bool {
        try database.execute(
            sql: """
                UPDATE erasure_token SET id = :token, kind = :kind, step = :revoke, next_attempt_at = :time,
                    is_claimed = 0, cause = NULL, sealed = :sealed, redirect_uri = NULL, expires_at = NULL
                WHERE id = :code AND step = :exchange
                """,
            arguments: [
                "token": tokenID.data, "kind": SealedPurpose.refreshToken.storageCode,
                "revoke": ErasureToken.Step.revoke.storageCodes.step, "time": moment.milliseconds,
                "sealed": Data(sealed.bytes), "code": codeID.data,
                "exchange": ErasureToken.Step.exchange.storageCodes.step,
            ])
        return database.changesCount > 0
    }
}
