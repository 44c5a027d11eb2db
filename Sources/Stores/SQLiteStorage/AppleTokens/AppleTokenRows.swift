import AppleAccounts
import GRDB
import SQLTables

/// Reads an account's authorization codes and refresh tokens.
final class AppleTokenRows {
    private let names: Names
    private let codes: KeyedSelect<AccountID, NumberedColumns<AuthorizationCodeRecord>>
    private let tokens: KeyedSelect<AccountID, NumberedColumns<RefreshTokenRecord>>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        codes = try KeyedSelect(in: database) {
            NumberedColumns($0.add(AuthorizationCodeTable.self))
        } sql: {
            "SELECT \($0) FROM authorization_code WHERE account_id = \($1)"
        }
        tokens = try KeyedSelect(in: database) {
            NumberedColumns($0.add(RefreshTokenTable.self))
        } sql: {
            "SELECT \($0) FROM refresh_token WHERE account_id = \($1)"
        }
    }

    func find(_ id: AccountID) throws -> HeldAppleTokens {
        HeldAppleTokens(
            codes: try codes.all(id) { try $0.record($1, names) },
            tokens: try tokens.all(id) { try $0.record($1, names) })
    }
}

/// Writes changes to codes and tokens.
final class AppleTokenWriter {
    private let names: Names
    private let sealing: any AppleTokenSealing
    private let insertCode: Insertion<AuthorizationCodeTable>
    private let code: NumberedColumns<AuthorizationCodeRecord>
    private let putToken: Insertion<RefreshTokenTable>
    private let token: NumberedColumns<RefreshTokenRecord>
    private let removeCode: KeyedChange<UniqueID>
    private let removeCodes: KeyedChange<AccountID>
    private let removeTokens: KeyedChange<AccountID>
    private let removeToken: PreparedStatement
    private let accountID: Parameter<AccountID>
    private let client: Parameter<Int64>

    init(_ names: Names, sealing: any AppleTokenSealing, in database: Database) throws {
        (self.names, self.sealing) = (names, sealing)
        insertCode = try Insertion(conflict: "ON CONFLICT (id) DO NOTHING", in: database)
        code = NumberedColumns(insertCode.columns)
        let values = RefreshTokenTable.names(.values).assigned(from: "excluded")
        putToken = try Insertion(
            conflict: "ON CONFLICT (account_id, client_id) DO UPDATE SET \(values)", in: database)
        token = NumberedColumns(putToken.columns)
        removeCode = try KeyedChange(in: database) { "DELETE FROM authorization_code WHERE id = \($0)" }
        removeCodes = try KeyedChange(in: database) {
            "DELETE FROM authorization_code WHERE account_id = \($0)"
        }
        removeTokens = try KeyedChange(in: database) { "DELETE FROM refresh_token WHERE account_id = \($0)" }
        var parameters = ParameterList()
        (accountID, client) = (parameters.add(AccountID.self), parameters.add(Int64.self))
        removeToken = try PreparedStatement(
            "DELETE FROM refresh_token WHERE account_id = \(accountID) AND client_id = \(client)",
            in: database)
    }

    func carryOut(_ change: AppleTokenChange) throws {
        switch change {
        case .insertCode(let new):
            let code = try sealing.seal(new)
            try insert(code, with: insertCode, self.code, of: (code.clientID, code.primaryClientID))
        case .removeCode(let id): try removeCode(id)
        case .putToken(let token):
            try insert(token, with: putToken, self.token, of: (token.clientID, token.primaryClientID))
        case .removeToken(let id, let clientID):
            guard let number = try names.clients.number(of: clientID) else { return }
            removeToken.begin()
            removeToken.bind(id, to: accountID)
            removeToken.bind(number, to: client)
            try removeToken.execute()
        case .removeAll(let id):
            try removeCodes(id)
            try removeTokens(id)
        }
    }

    @inline(__always)
    private func insert<Record>(
        _ record: Record, with insert: Insertion<RecordTable<Record>>, _ columns: NumberedColumns<Record>,
        of given: Record.Given
    ) throws {
        let client = try names.clients.ensureNumber(of: given.clientID)
        let app = try names.apps.ensureNumber(of: given.primaryClientID)
        try insert {
            $0.write(record, to: $1)
            $1.set(columns.client, client)
            $1.set(columns.app, app)
        }
    }
}
