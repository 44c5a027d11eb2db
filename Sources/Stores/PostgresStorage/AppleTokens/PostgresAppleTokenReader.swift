import AppleAccounts
import SQLTables

/// Reads and locks all codes and tokens of the accounts that need them in a batch: no other transaction
/// claims a code or token from here to the end of the transaction, and an earlier claim is visible.
///
/// The rows of the accounts' subjects are locked before, so no code or token can be added in between.
enum PostgresAppleTokenReader {
    private static let findCodes = TypedQuery<CodeColumns, [AccountID]>("apple_codes") {
        CodeColumns(&$0)
    } sql: { list, accounts in
        """
        SELECT \(list)
        FROM authorization_code c JOIN client ON client.id = c.client_id JOIN app ON app.id = c.app_id
        WHERE c.account_id = ANY (\(accounts)) ORDER BY c.id FOR UPDATE OF c
        """
    }
    private static let findTokens = TypedQuery<TokenColumns, [AccountID]>("apple_tokens") {
        TokenColumns(&$0)
    } sql: { list, accounts in
        """
        SELECT \(list)
        FROM refresh_token t JOIN client ON client.id = t.client_id JOIN app ON app.id = t.app_id
        WHERE t.account_id = ANY (\(accounts)) ORDER BY t.account_id, t.client_id FOR UPDATE OF t
        """
    }

    /// Returns the codes and tokens. Accounts without any are not in the result.
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
