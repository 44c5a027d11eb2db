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

extension TransferTable {
    func bind(_ transfer: TransferRecord, team: Int64, to statement: PreparedStatement) {
        statement.bind(team, to: teamID)
        statement.bind(transfer.transferSubject.rawValue, to: transferSubject)
        statement.bind(transfer.accountID, to: accountID)
        statement.bind(transfer.createdAt, to: createdAt)
        statement.bind(transfer.expiresAt, to: expiresAt)
    }

    func record(
        _ row: PreparedStatement, team: TeamID, transferSubject: AppleSubject
    ) throws(StorageError) -> TransferRecord {
        TransferRecord(
            recipientTeam: team, transferSubject: transferSubject, accountID: try row.required(accountID),
            from: nil, createdAt: try row.required(createdAt), expiresAt: try row.required(expiresAt))
    }
}
