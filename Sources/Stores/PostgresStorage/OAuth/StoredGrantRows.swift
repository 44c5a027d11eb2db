import AppleAccounts
import AuthorizationServer
import SQLTables

/// Reads all grants of accounts with their dependent rows.
struct StoredGrantRows {
    private struct FindCodes {
        let statement: TypedStatement<[AccountID]>
        let columns: OAuthCodeTable
        let accountID: Column<AccountID>
        let client: Column<OAuthClientID>

        init() {
            var list = SelectList()
            columns = list.add(OAuthCodeTable.self, as: "c")
            accountID = list.add("g.account_id", AccountID.self, as: "account_id")
            client = list.add("g.oauth_client", OAuthClientID.self, as: "oauth_client")
            statement = TypedStatement("oauth_codes") {
                """
                SELECT \(list)
                FROM (
                    SELECT id, account_id, oauth_client FROM oauth_grant WHERE account_id = ANY (\($0))
                    OFFSET 0) AS g
                CROSS JOIN LATERAL (
                    SELECT \(OAuthCodeTable.names()) FROM oauth_code WHERE grant_id = g.id OFFSET 0) AS c
                """
            }
        }
    }

    private static let findGrants = TypedQuery<OAuthGrantTable, [AccountID]>("oauth_grants") {
        $0.add(OAuthGrantTable.self)
    } sql: { list, accounts in
        "SELECT \(list) FROM oauth_grant WHERE account_id = ANY (\(accounts)) ORDER BY id"
    }
    private static let findFamilies = TypedQuery<OAuthTokenFamilyTable, [AccountID]>("oauth_token_families") {
        $0.add(OAuthTokenFamilyTable.self, as: "l")
    } sql: { list, accounts in
        """
        SELECT \(list) FROM (SELECT id FROM oauth_grant WHERE account_id = ANY (\(accounts)) OFFSET 0) AS g
        CROSS JOIN LATERAL (
            SELECT \(OAuthTokenFamilyTable.names()) FROM oauth_token_family WHERE grant_id = g.id OFFSET 0) AS l
        """
    }
    private static let findCodes = FindCodes()

    let grants: [GrantRecord]
    let families: [TokenFamily]
    let codes: [CodeRecord]

    static func calls(for accounts: [AccountID]) -> [PostgresCall] {
        [findGrants.statement(accounts), findFamilies.statement(accounts), findCodes.statement(accounts)]
    }

    static func grants(of account: AccountID, in session: PostgresSession) throws -> [GrantRecord] {
        let rows = try session.run(findGrants.statement([account]))
        return try rows.map { try findGrants.columns.record($0, session.names, in: session) }
    }

    /// - Parameter results: Results of `calls`.
    init(
        _ results: ArraySlice<PostgresRows>, _ names: PostgresNames, in session: PostgresSession
    ) throws {
        var results = results
        guard let grants = results.popFirst(), let families = results.popFirst(),
            let codes = results.popFirst()
        else { throw StorageError(.unavailable, detail: "expected the results of three statements") }
        self.grants = try grants.map { try Self.findGrants.columns.record($0, names, in: session) }
        self.families = try families.map { try Self.findFamilies.columns.family($0) }
        let columns = Self.findCodes
        self.codes = try codes.map { row in
            try columns.columns.code(
                row, of: row.required(columns.accountID), client: row.required(columns.client))
        }
    }
}
