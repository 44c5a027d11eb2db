import AppleAccounts

/// Reads all codes and tokens of the accounts that a batch needs them of, and locks them: nobody claims one
/// between this and the end of the transaction, and who has claimed one is seen.
///
/// The rows of the accounts' subjects are locked before, so no code or token can be added meanwhile.
enum PostgresGrantReader {
    private static let findCodes = PostgresStatement(
        "grants_codes",
        """
        SELECT \(GrantRows.codeColumns)
        FROM authorization_code c JOIN client ON client.id = c.client_id JOIN app ON app.id = c.app_id
        WHERE c.account_id = ANY ($1::uuid[]) ORDER BY c.id FOR UPDATE OF c
        """)
    private static let findTokens = PostgresStatement(
        "grants_tokens",
        """
        SELECT \(GrantRows.tokenColumns)
        FROM refresh_token t JOIN client ON client.id = t.client_id JOIN app ON app.id = t.app_id
        WHERE t.account_id = ANY ($1::uuid[]) ORDER BY t.account_id, t.client_id FOR UPDATE OF t
        """)

    /// An account that has nothing is not among them.
    static func load(
        _ accounts: [AccountID], in session: PostgresSession
    ) throws -> [AccountID: AccountGrants] {
        guard !accounts.isEmpty else { return [:] }
        let ids = PostgresValue.uuids(accounts.map(\.uniqueID))
        let rows = try session.pipeline([PostgresCall(findCodes, [ids]), PostgresCall(findTokens, [ids])])
        let (codes, tokens) = (rows[0], rows[1])
        var held: [AccountID: AccountGrants] = [:]
        for row in 0..<codes.count {
            let code = try GrantRows.code(codes, row)
            held[code.accountID, default: AccountGrants()].codes.append(code)
        }
        for row in 0..<tokens.count {
            let token = try GrantRows.token(tokens, row)
            held[token.accountID, default: AccountGrants()].tokens.append(token)
        }
        return held
    }
}
