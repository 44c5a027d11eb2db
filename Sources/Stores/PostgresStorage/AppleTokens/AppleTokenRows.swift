import AppleAccounts
import SQLTables

/// Reads and locks all codes and tokens of the accounts for which a batch needs them. From here to the end of
/// the transaction, no other transaction can claim a code or token, and an earlier claim is visible.
///
/// The accounts' subject rows are locked first, so no code or token can be added in between.
enum PostgresAppleTokenReader {
    private static let findCodes = TypedQuery<AppleTokenStatements.CodeColumns, [AccountID]>("apple_codes") {
        AppleTokenStatements.CodeColumns(&$0, as: "c")
    } sql: { list, accounts in
        """
        SELECT \(list) FROM authorization_code c
        WHERE c.account_id = ANY (\(accounts)) ORDER BY c.id FOR UPDATE OF c
        """
    }
    private static let findTokens = TypedQuery<AppleTokenStatements.TokenColumns, [AccountID]>("apple_tokens")
    {
        AppleTokenStatements.TokenColumns(&$0, as: "t")
    } sql: { list, accounts in
        """
        SELECT \(list) FROM refresh_token t
        WHERE t.account_id = ANY (\(accounts)) ORDER BY t.account_id, t.client_id FOR UPDATE OF t
        """
    }

    /// Returns the codes and tokens. Accounts without codes and tokens are absent.
    static func load(
        _ accounts: [AccountID], in session: PostgresSession
    ) throws -> [AccountID: HeldAppleTokens] {
        guard !accounts.isEmpty else { return [:] }
        let results = try session.pipeline([findCodes.statement(accounts), findTokens.statement(accounts)])
        var held: [AccountID: HeldAppleTokens] = [:]
        for row in results[0] {
            let code = try findCodes.columns.record(row)
            held[code.accountID, default: HeldAppleTokens()].codes.append(code)
        }
        for row in results[1] {
            let token = try findTokens.columns.record(row)
            held[token.accountID, default: HeldAppleTokens()].tokens.append(token)
        }
        return held
    }
}

/// Writes changes to codes and tokens, in at most five statements for any number of changes.
enum PostgresAppleTokenWriter {
    private static let removeCodes = TypedStatement<[UniqueID], [AccountID]>("remove_codes") {
        ids, accounts in
        "DELETE FROM authorization_code WHERE id = ANY (\(ids)) OR account_id = ANY (\(accounts))"
    }
    private static let removeTokens = TypedStatement<[AccountID], [ClientID]>("remove_tokens") {
        accounts, clients in
        """
        DELETE FROM refresh_token t
        USING unnest(\(accounts), \(clients)) gone (account_id, client)
            JOIN client ON client.name = gone.client
        WHERE t.account_id = gone.account_id AND t.client_id = client.id
        """
    }
    private static let removeAllTokens = TypedStatement<[AccountID]>("remove_all_tokens") {
        "DELETE FROM refresh_token WHERE account_id = ANY (\($0))"
    }

    private static let insertCodes = RowWrite<NamedRow<AuthorizationCodeTable>>(
        naming: "insert_codes", "ON CONFLICT (id) DO NOTHING")
    private static let putTokens = RowWrite<NamedRow<RefreshTokenTable>>(
        naming: "put_tokens",
        """
        ON CONFLICT (account_id, client_id)
        DO UPDATE SET \(RefreshTokenTable.names(.values).assigned(from: "excluded"))
        """)

    /// Returns statements for the batch's transaction, to run after its subjects and credentials are saved.
    /// The app and client names must already be stored.
    static func calls(
        for changes: [AppleTokenChange], sealing: any AppleTokenSealing
    ) throws(StorageError) -> [PostgresCall] {
        guard !changes.isEmpty else { return [] }
        let net = NetAppleTokenChanges(changes)
        var calls: [PostgresCall] = []
        if !net.removedCodes.isEmpty || !net.emptiedAccounts.isEmpty {
            calls.append(removeCodes(net.removedCodes, net.emptiedAccounts))
        }
        if !net.emptiedAccounts.isEmpty { calls.append(removeAllTokens(net.emptiedAccounts)) }
        if !net.removedTokens.isEmpty {
            calls.append(
                removeTokens(net.removedTokens.map(\.accountID), net.removedTokens.map(\.clientID)))
        }
        var codes: [AuthorizationCodeRecord] = []
        for code in net.codes { codes.append(try sealing.seal(code)) }
        return calls
            + insertCodes.calls(codes) { $0.write($1, to: $2, ($1.clientID, $1.primaryClientID)) }
            + putTokens.calls(net.tokens) { $0.write($1, to: $2, ($1.clientID, $1.primaryClientID)) }
    }
}

extension NamedRow {
    fileprivate func write<Record>(_ record: Record, to row: RowValues, _ given: Record.Given)
    where T == RecordTable<Record>, Record.Given == (clientID: ClientID, primaryClientID: ClientID) {
        table.write(record, to: row)
        row.set(names[0], given.clientID)
        row.set(names[1], given.primaryClientID)
    }
}

/// The net effect of a sequence of code and token changes, for a writer that deletes first and inserts
/// afterwards.
struct NetAppleTokenChanges {
    private struct TokenName: Hashable {
        let accountID: AccountID
        let clientID: ClientID
    }

    /// Accounts that lose all their earlier codes and tokens.
    private(set) var emptiedAccounts: [AccountID] = []
    private(set) var removedCodes: [UniqueID] = []
    private(set) var removedTokens: [(accountID: AccountID, clientID: ClientID)] = []
    private var insertedCodes: [UniqueID: NewAuthorizationCode] = [:]
    private var putTokens: [TokenName: RefreshTokenRecord] = [:]

    init(_ changes: [AppleTokenChange]) {
        for change in changes { add(change) }
    }

    /// Codes in ID order.
    var codes: [NewAuthorizationCode] { insertedCodes.values.sorted { $0.id < $1.id } }

    /// Tokens in account and client ID order, at most one for each pair.
    var tokens: [RefreshTokenRecord] {
        putTokens.values.sorted {
            ($0.accountID.uniqueID, $0.clientID) < ($1.accountID.uniqueID, $1.clientID)
        }
    }

    private mutating func add(_ change: AppleTokenChange) {
        switch change {
        case .insertCode(let code):
            if insertedCodes[code.id] == nil { insertedCodes[code.id] = code }
        case .removeCode(let id):
            insertedCodes[id] = nil
            removedCodes.append(id)
        case .putToken(let token):
            putTokens[TokenName(accountID: token.accountID, clientID: token.clientID)] = token
        case .removeToken(let accountID, let clientID):
            putTokens[TokenName(accountID: accountID, clientID: clientID)] = nil
            removedTokens.append((accountID, clientID))
        case .removeAll(let accountID):
            insertedCodes = insertedCodes.filter { $0.value.accountID != accountID }
            putTokens = putTokens.filter { $0.key.accountID != accountID }
            emptiedAccounts.append(accountID)
        }
    }
}
