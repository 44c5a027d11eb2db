import AppleAccounts
import SQLTables

/// Accounts that another team transfers to this one, before their persons sign in.
struct TransferTable: Table {
    static let name = "transfer"

    let teamID: Column<Int64>
    let transferSubject: Column<String>
    let accountID: Column<AccountID>
    let createdAt: Column<Moment>
    let expiresAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        teamID = columns("team_id", .operational)
        transferSubject = columns("transfer_sub", .personal)
        accountID = columns("account_id", .operational)
        createdAt = columns("created_at", .operational)
        expiresAt = columns("expires_at", .operational)
    }
}

extension ColumnChoice where T == TransferTable {
    static var values: Self { except { [$0.teamID, $0.transferSubject] } }
}
