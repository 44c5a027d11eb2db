public import AppleAccounts

/// The histories of accounts. The entries of an account have numbers without gaps from the oldest that is kept.
public struct AccountHistoryTable: Table {
    public static let name = "account_history"

    public let accountID: Column<AccountID>
    public let number: Column<Int64>
    public let kind: Column<HistoryEntry.Kind>
    public let appID: Column<Int64>
    public let outcome: Column<HistoryEntry.Outcome>
    public let moment: Column<Moment>
    public let recordedAt: Column<Moment>
    public let decidedBy: Column<Moment>
    public let cause: Column<RefreshTokenCause>

    public init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational, .required)
        number = columns("number", .operational, .required, .range(1...Int64.max))
        kind = columns("kind", .personal, .required)
        appID = columns("app_id", .operational, .required, .nameNumber)
        outcome = columns("outcome", .personal, .required)
        moment = columns("moment", .personal, .required)
        recordedAt = columns("recorded_at", .personal, .required)
        decidedBy = columns("decided_by", .personal, .optional)
        cause = columns("cause", .personal, .optional)
    }
}

extension AccountHistoryTable {
    /// Writes all columns except the numbers of the entry and of the app.
    @inlinable public func write(_ entry: HistoryEntry, to row: some WritableRow) {
        row.set(accountID, entry.accountID)
        row.set(kind, entry.kind)
        row.set(outcome, entry.outcome)
        row.set(moment, entry.moment)
        row.set(recordedAt, entry.recordedAt)
        row.set(decidedBy, entry.decidedBy)
        row.set(cause, entry.cause)
    }

    @inlinable public func entry(_ row: some ReadableRow, clientID: ClientID) throws(StorageError)
        -> HistoryEntry
    {
        HistoryEntry(
            accountID: try row.required(accountID), kind: try row.requiredCode(kind), clientID: clientID,
            outcome: try row.requiredCode(outcome), moment: try row.required(moment),
            recordedAt: try row.required(recordedAt), decidedBy: row[decidedBy], cause: try row.code(cause))
    }
}
