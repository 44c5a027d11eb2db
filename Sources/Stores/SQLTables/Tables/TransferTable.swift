public import AppleAccounts

/// Accounts that another team transfers to this team, before their users sign in.
public struct TransferTable: Table {
    public static let name = "transfer"

    public let teamID: Column<Int64>
    public let transferSubject: Column<String>
    public let accountID: Column<AccountID>
    public let createdAt: Column<Moment>
    public let expiresAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        teamID = columns("team_id", .operational, .required, .nameNumber)
        transferSubject = columns("transfer_sub", .personal, .required, .length(1...255))
        accountID = columns("account_id", .operational, .required)
        createdAt = columns("created_at", .operational, .required)
        expiresAt = columns("expires_at", .operational, .required)
    }
}

extension ColumnChoice where T == TransferTable {
    public static var values: Self { except { [$0.teamID, $0.transferSubject] } }
}

extension TransferTable {
    /// Writes all columns except the number of the team.
    @inlinable public func write(_ transfer: TransferRecord, to row: some WritableRow) {
        row.set(transferSubject, transfer.transferSubject.rawValue)
        row.set(accountID, transfer.accountID)
        row.set(createdAt, transfer.createdAt)
        row.set(expiresAt, transfer.expiresAt)
    }

    @inlinable public func record(
        _ row: some ReadableRow, team: TeamID, transferSubject: AppleSubject
    ) throws(StorageError) -> TransferRecord {
        TransferRecord(
            recipientTeam: team, transferSubject: transferSubject, accountID: try row.required(accountID),
            from: nil, createdAt: try row.required(createdAt), expiresAt: try row.required(expiresAt))
    }
}
