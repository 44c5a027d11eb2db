import AppleAccounts
import SQLTables

/// Writes the changes of codes and tokens, in at most five statements for any number of changes.
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

    /// Writes rows that name an app and one of its clients.
    private struct NamedRows<Rows: Table> {
        let columns: Rows
        let client: Column<ClientID>
        let app: Column<ClientID>
        let statement: RowStatement

        /// - Parameters:
        ///   - choice: All columns but the numbers of client and app.
        ///   - conflict: The clause for a row that is there.
        init(_ name: String, _ choice: ColumnChoice<Rows>, onConflict conflict: String) {
            var rows = RowParameters()
            columns = rows.add(Rows.self, choice)
            let names = rows.names
            client = rows.add("client", ClientID.self)
            app = rows.add("app", ClientID.self)
            // A name without number violates NOT NULL, so that no row is lost silently.
            statement = RowStatement(
                name, rows,
                """
                INSERT INTO \(Rows.name) (\(names), client_id, app_id)
                SELECT \(names.of("new")), (SELECT id FROM client WHERE name = new.client),
                    (SELECT id FROM app WHERE name = new.app)
                FROM \(rows.relation("new"))
                ON CONFLICT \(conflict)
                """)
        }
    }

    private static let insertCodes = NamedRows<AuthorizationCodeTable>(
        "insert_codes", .except { [$0.clientID, $0.appID] }, onConflict: "(id) DO NOTHING")
    private static let putTokens = NamedRows<RefreshTokenTable>(
        "put_tokens", .except { [$0.clientID, $0.appID] },
        onConflict: """
            (account_id, client_id)
            DO UPDATE SET \(RefreshTokenTable.names(.values).assigned(from: "excluded"))
            """)

    /// Returns statements for the batch's transaction, to run after its subjects and credentials are saved.
    /// The names of the apps and clients must be stored already.
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
        if let call = try insertion(of: net.codes, sealing: sealing) { calls.append(call) }
        if let call = insertion(of: net.tokens) { calls.append(call) }
        return calls
    }

    private static func insertion(
        of newCodes: [NewAuthorizationCode], sealing: any AppleTokenSealing
    ) throws(StorageError) -> PostgresCall? {
        guard !newCodes.isEmpty else { return nil }
        var codes: [AuthorizationCodeRecord] = []
        codes.reserveCapacity(newCodes.count)
        for code in newCodes { codes.append(try sealing.seal(code)) }
        return insertCodes.statement.call(codes) { code, row in
            insertCodes.columns.write(code, to: row)
            row.set(insertCodes.client, code.clientID)
            row.set(insertCodes.app, code.primaryClientID)
        }
    }

    private static func insertion(of tokens: [RefreshTokenRecord]) -> PostgresCall? {
        guard !tokens.isEmpty else { return nil }
        return putTokens.statement.call(tokens) { token, row in
            putTokens.columns.write(token, to: row)
            row.set(putTokens.client, token.clientID)
            row.set(putTokens.app, token.primaryClientID)
        }
    }
}
