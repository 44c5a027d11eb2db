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
    func bind(
        _ event: AccountEvent, subject: Int64, app: Int64?, to statement: PreparedStatement
    ) {
        statement.bind(event.id, to: id)
        statement.bind(event.kind, to: kind)
        statement.bind(subject, to: subjectID)
        statement.bind(event.accountID, to: accountID)
        statement.bind(app, to: appID)
        statement.bind(event.reason, to: reason)
        statement.bind(event.source, to: source)
        statement.bind(event.moment, to: moment)
        statement.bind(event.recordedAt, to: recordedAt)
        guard let grant = event.grant else { return }
        statement.bind(grant.id, to: grantID)
        statement.bind(grant.oauthClientID, to: oauthClientID)
        statement.bind(grant.reason, to: grantReason)
    }

    func event(
        _ row: PreparedStatement, team: TeamID, subject: AppleSubject?, clientID: ClientID?
    ) throws(StorageError) -> AccountEvent {
        AccountEvent(
            sequence: try row.required(sequence), id: try row.required(id), kind: try row.requiredCode(kind),
            team: team, subject: subject, accountID: row[accountID], clientID: clientID,
            reason: try row.code(reason), source: try row.code(source), grant: try grant(row),
            moment: try row.required(moment), recordedAt: try row.required(recordedAt))
    }

    private func grant(_ row: PreparedStatement) throws(StorageError) -> GrantReference? {
        guard let id = row[grantID] else { return nil }
        return GrantReference(
            id: id, oauthClientID: try row.required(oauthClientID), reason: try row.code(grantReason))
    }
}
