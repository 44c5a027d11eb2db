import AppleAccounts
import AuthorizationServer
import SQLTables

/// How many grants accounts have given to OAuth clients within an hour. It names an account and leads to
/// nothing else, so it outlives an erasure for that hour.
struct OAuthGrantPaceTable: Table {
    static let name = "oauth_grant_pace"

    let accountID: Column<AccountID>
    let oauthClientID: Column<OAuthClientID>
    let begunAt: Column<Moment>
    let count: Column<Int64>

    init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational)
        oauthClientID = columns("oauth_client", .operational)
        begunAt = columns("begun_at", .operational)
        count = columns("count", .operational)
    }
}

extension ColumnChoice where T == OAuthGrantPaceTable {
    static var values: Self { only { [$0.begunAt, $0.count] } }
}

extension OAuthGrantPaceTable {
    func pace(_ row: PostgresRow) throws(StorageError) -> GrantPace {
        GrantPace(
            accountID: try row.required(accountID), oauthClientID: try row.required(oauthClientID),
            begunAt: try row.required(begunAt), count: try row.required(count))
    }
}
