import AppleAccounts
import GRDB
import SQLTables

/// Reads the authorization codes and refresh tokens of an account.
final class AppleTokenRows {
    private let names: Names
    private let findCodes: KeyedSelect<AccountID>
    private let codeColumns: NamedColumns<AuthorizationCodeRecord>
    private let findTokens: KeyedSelect<AccountID>
    private let tokenColumns: NamedColumns<RefreshTokenRecord>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var codes = SelectList()
        codeColumns = NamedColumns(codes.add(AuthorizationCodeTable.self))
        findCodes = try KeyedSelect(in: database) {
            "SELECT \(codes) FROM authorization_code WHERE account_id = \($0)"
        }
        var tokens = SelectList()
        tokenColumns = NamedColumns(tokens.add(RefreshTokenTable.self))
        findTokens = try KeyedSelect(in: database) {
            "SELECT \(tokens) FROM refresh_token WHERE account_id = \($0)"
        }
    }

    func find(_ id: AccountID) throws -> HeldAppleTokens {
        var found = HeldAppleTokens()
        try findCodes.forEach(id) { found.codes.append(try codeColumns.record($0, names)) }
        try findTokens.forEach(id) { found.tokens.append(try tokenColumns.record($0, names)) }
        return found
    }
}

/// Writes the changes of codes and tokens.
final class AppleTokenWriter {
    private let names: Names
    private let sealing: any AppleTokenSealing
    private let insertCode: PreparedStatement
    private let codeColumns: NamedColumns<AuthorizationCodeRecord>
    private let putToken: PreparedStatement
    private let tokenColumns: NamedColumns<RefreshTokenRecord>
    private let removeCode: PreparedStatement
    private let codeID: Parameter<UniqueID>
    private let removeToken: PreparedStatement
    private let removeCodes: PreparedStatement
    private let removeTokens: PreparedStatement
    /// Parameter of the deleting statements; the last statement has no client.
    private let accountID: Parameter<AccountID>
    private let client: Parameter<Int64>

    init(_ names: Names, sealing: any AppleTokenSealing, in database: Database) throws {
        (self.names, self.sealing) = (names, sealing)
        let codes = Insertion<AuthorizationCodeTable>(conflict: "ON CONFLICT (id) DO NOTHING")
        codeColumns = NamedColumns(codes.columns)
        insertCode = try PreparedStatement(codes.sql, in: database)
        let values = RefreshTokenTable.names(.values).assigned(from: "excluded")
        let tokens = Insertion<RefreshTokenTable>(
            conflict: "ON CONFLICT (account_id, client_id) DO UPDATE SET \(values)")
        tokenColumns = NamedColumns(tokens.columns)
        putToken = try PreparedStatement(tokens.sql, in: database)

        var codeParameters = ParameterList()
        codeID = codeParameters.add(UniqueID.self)
        removeCode = try PreparedStatement(
            "DELETE FROM authorization_code WHERE id = \(codeID)", in: database)
        var parameters = ParameterList()
        accountID = parameters.add(AccountID.self)
        client = parameters.add(Int64.self)
        removeToken = try PreparedStatement(
            "DELETE FROM refresh_token WHERE account_id = \(accountID) AND client_id = \(client)",
            in: database)
        removeCodes = try PreparedStatement(
            "DELETE FROM authorization_code WHERE account_id = \(accountID)", in: database)
        removeTokens = try PreparedStatement(
            "DELETE FROM refresh_token WHERE account_id = \(accountID)", in: database)
    }

    func carryOut(_ change: AppleTokenChange) throws {
        switch change {
        case .insertCode(let code): try insert(code)
        case .removeCode(let id):
            removeCode.begin()
            removeCode.bind(id, to: codeID)
            try removeCode.execute()
        case .putToken(let token): try put(token)
        case .removeToken(let id, let clientID):
            guard let number = try names.clients.number(of: clientID) else { return }
            removeToken.begin()
            removeToken.bind(id, to: accountID)
            removeToken.bind(number, to: client)
            try removeToken.execute()
        case .removeAll(let id):
            for statement in [removeCodes, removeTokens] {
                statement.begin()
                statement.bind(id, to: accountID)
                try statement.execute()
            }
        }
    }

    private func insert(_ new: NewAuthorizationCode) throws {
        let code = try sealing.seal(new)
        let client = try names.clients.ensureNumber(of: code.clientID)
        let app = try names.apps.ensureNumber(of: code.primaryClientID)
        insertCode.begin()
        codeColumns.table.write(code, to: insertCode)
        insertCode.set(codeColumns.client, client)
        insertCode.set(codeColumns.app, app)
        try insertCode.execute()
    }

    private func put(_ token: RefreshTokenRecord) throws {
        let client = try names.clients.ensureNumber(of: token.clientID)
        let app = try names.apps.ensureNumber(of: token.primaryClientID)
        putToken.begin()
        tokenColumns.table.write(token, to: putToken)
        putToken.set(tokenColumns.client, client)
        putToken.set(tokenColumns.app, app)
        try putToken.execute()
    }
}
