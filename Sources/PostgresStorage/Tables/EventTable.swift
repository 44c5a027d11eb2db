import AppleAccounts
import SQLTables

/// The feed of account events. Its rows stay after an erasure: their subject is a tombstone then, and names
/// no person.
struct EventTable: Table {
    static let name = "event"

    let sequence: Column<Int64>
    let id: Column<EventID>
    let kind: Column<AccountEvent.Kind>
    let subjectID: Column<Int64>
    /// As it was when the event happened.
    let accountID: Column<AccountID>
    let appID: Column<Int64>
    let reason: Column<CredentialReason>
    let source: Column<CredentialSource>
    let moment: Column<Moment>
    let recordedAt: Column<Moment>
    /// Only of events of OAuth grants.
    let grantID: Column<GrantID>
    let oauthClientID: Column<OAuthClientID>
    let grantReason: Column<GrantEndReason>

    init(_ columns: inout ColumnList) {
        sequence = columns("sequence", .operational)
        id = columns("id", .operational)
        kind = columns("kind", .operational)
        subjectID = columns("subject_id", .operational)
        accountID = columns("account_id", .operational)
        appID = columns("app_id", .operational)
        reason = columns("reason", .operational)
        source = columns("source", .operational)
        moment = columns("moment", .operational)
        recordedAt = columns("recorded_at", .operational)
        grantID = columns("grant_id", .operational)
        oauthClientID = columns("oauth_client", .operational)
        grantReason = columns("grant_reason", .operational)
    }
}

extension EventTable {
    func event(
        _ row: PostgresRow, team: TeamID, subject: AppleSubject?, clientID: ClientID?
    ) throws(StorageError) -> AccountEvent {
        AccountEvent(
            sequence: try row.required(sequence), id: try row.required(id), kind: try row.requiredCode(kind),
            team: team, subject: subject, accountID: row[accountID], clientID: clientID,
            reason: try row.code(reason), source: try row.code(source), grant: try grant(row),
            moment: try row.required(moment), recordedAt: try row.required(recordedAt))
    }

    private func grant(_ row: PostgresRow) throws(StorageError) -> GrantReference? {
        guard let id = row[grantID] else { return nil }
        return GrantReference(
            id: id, oauthClientID: try row.required(oauthClientID), reason: try row.code(grantReason))
    }
}

/// The number of the last event: one row.
struct EventCounterTable: Table {
    static let name = "event_counter"

    let id: Column<Int64>
    let lastSequence: Column<Int64>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        lastSequence = columns("last_sequence", .operational)
    }
}
