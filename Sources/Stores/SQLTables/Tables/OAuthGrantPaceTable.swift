public import AppleAccounts
public import AuthorizationServer

/// Number of grants that an account has given to OAuth clients within an hour. The row names an account and
/// leads to no other data, so it outlives an erasure for that hour.
public struct OAuthGrantPaceTable: Table {
    public static let name = "oauth_grant_pace"

    public let accountID: Column<AccountID>
    public let oauthClientID: Column<OAuthClientID>
    public let begunAt: Column<Moment>
    public let count: Column<Int64>
    /// Number of new token families. NULL for none.
    public let families: Column<Int64>

    public init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational, .required)
        oauthClientID = columns("oauth_client", .operational, .required)
        begunAt = columns("begun_at", .operational, .required)
        count = columns("count", .operational, .required, .range(0...Int64.max))
        families = columns("families", .operational, .optional, .range(1...Int64.max))
    }
}

extension ColumnChoice where T == OAuthGrantPaceTable {
    public static var values: Self { only { [$0.begunAt, $0.count, $0.families] } }
    public static var families: Self { only { [$0.families] } }
    public static var exceptFamilies: Self { except { [$0.families] } }
}

extension OAuthGrantPaceTable {
    @inlinable public func write(_ pace: GrantPace, to row: some WritableRow) {
        row.set(accountID, pace.accountID)
        row.set(oauthClientID, pace.oauthClientID)
        row.set(begunAt, pace.begunAt)
        row.set(count, pace.count)
        row.set(families, pace.families == 0 ? nil : pace.families)
    }

    @inlinable public func pace(_ row: some ReadableRow) throws(StorageError) -> GrantPace {
        GrantPace(
            accountID: try row.required(accountID), oauthClientID: try row.required(oauthClientID),
            begunAt: try row.required(begunAt), count: try row.required(count), families: row[families] ?? 0)
    }
}
