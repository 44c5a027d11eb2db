import AppleAccounts
import GRDB
import SQLTables

/// Reads the authorization codes and refresh tokens of an account.
final class AppleTokenRows {
    private let names: Names
    private let accountID: Parameter<AccountID>
    private let findCodes: PreparedStatement
    private let codeColumns: AuthorizationCodeTable
    private let findTokens: PreparedStatement
    private let tokenColumns: RefreshTokenTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        accountID = parameters.add(AccountID.self)
        var codes = SelectList()
        codeColumns = codes.add(AuthorizationCodeTable.self)
        findCodes = try PreparedStatement(
            "SELECT \(codes) FROM authorization_code WHERE account_id = \(accountID)", in: database)
        var tokens = SelectList()
        tokenColumns = tokens.add(RefreshTokenTable.self)
        findTokens = try PreparedStatement(
            "SELECT \(tokens) FROM refresh_token WHERE account_id = \(accountID)", in: database)
    }

    func find(_ id: AccountID) throws -> HeldAppleTokens {
        var found = HeldAppleTokens()
        findCodes.begin()
        findCodes.bind(id, to: accountID)
        while try findCodes.step() { found.codes.append(try codeColumns.record(findCodes, names)) }
        findCodes.finish()
        findTokens.begin()
        findTokens.bind(id, to: accountID)
        while try findTokens.step() { found.tokens.append(try tokenColumns.record(findTokens, names)) }
        findTokens.finish()
        return found
    }
}
