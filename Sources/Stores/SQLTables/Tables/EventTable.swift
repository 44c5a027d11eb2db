public import AppleAccounts
public import Cryptography

/// The feed of account events. Its rows stay after an erasure: their subject is then a tombstone, and names
/// no user.
public struct EventTable: Table {
    public static let name = "event"

    public let sequence: Column<Int64>
    public let id: Column<EventID>
    public let kind: Column<AccountEvent.Kind>
    public let subjectID: Column<Int64>
    /// The account's ID at the time of the event.
    public let accountID: Column<AccountID>
    public let appID: Column<Int64>
    public let reason: Column<CredentialReason>
    public let source: Column<CredentialSource>
    public let moment: Column<Moment>
    public let recordedAt: Column<Moment>
    /// Only for events of OAuth grants.
    public let grantID: Column<GrantID>
    public let oauthClientID: Column<OAuthClientID>
    public let grantReason: Column<GrantEndReason>
    /// Only for grants that an event of Google has ended.
    public let googleEventKind: Column<GoogleEventKind>
    public let googleEventReason: Column<GoogleEventReason>
    /// Double digest of a dead refresh token, for Google. It leads to no user.
    public let endedToken: Column<SHA512Digest>

    public init(_ columns: inout ColumnList) {
        sequence = columns("sequence", .operational, .required)
        id = columns("id", .operational, .required)
        kind = columns("kind", .operational, .required)
        subjectID = columns("subject_id", .operational, .required)
        accountID = columns("account_id", .operational, .optional)
        appID = columns("app_id", .operational, .optional, .nameNumber)
        reason = columns("reason", .operational, .optional)
        source = columns("source", .operational, .optional)
        moment = columns("moment", .operational, .required)
        recordedAt = columns("recorded_at", .operational, .required)
        grantID = columns("grant_id", .operational, .optional)
        oauthClientID = columns("oauth_client", .operational, .optional)
        grantReason = columns("grant_reason", .operational, .optional)
        googleEventKind = columns("google_event_kind", .operational, .optional)
        googleEventReason = columns("google_event_reason", .operational, .optional)
        endedToken = columns("ended_token", .operational, .optional)
    }
}

extension EventTable {
    /// Writes all columns except the numbers of the event, of the user and of the app.
    @inlinable public func write(_ event: AccountEvent, to row: some WritableRow) {
        row.set(id, event.id)
        row.set(kind, event.kind)
        row.set(accountID, event.accountID)
        row.set(reason, event.reason)
        row.set(source, event.source)
        row.set(moment, event.moment)
        row.set(recordedAt, event.recordedAt)
        guard let grant = event.grant else { return }
        row.set(grantID, grant.id)
        row.set(oauthClientID, grant.oauthClientID)
        row.set(grantReason, grant.reason)
        row.set(googleEventKind, grant.googleEvent?.kind)
        row.set(googleEventReason, grant.googleEvent?.reason)
        row.set(endedToken, grant.endedToken)
    }

    @inlinable public func event(
        _ row: some ReadableRow, team: TeamID, subject: AppleSubject?, clientID: ClientID?
    ) throws(StorageError) -> AccountEvent {
        AccountEvent(
            sequence: try row.required(sequence), id: try row.required(id), kind: try row.requiredCode(kind),
            team: team, subject: subject, accountID: row[accountID], clientID: clientID,
            reason: try row.code(reason), source: try row.code(source), grant: try grant(row),
            moment: try row.required(moment), recordedAt: try row.required(recordedAt))
    }

    @inlinable func grant(_ row: some ReadableRow) throws(StorageError) -> GrantReference? {
        guard let id = row[grantID] else { return nil }
        return GrantReference(
            id: id, oauthClientID: try row.required(oauthClientID), reason: try row.code(grantReason),
            googleEvent: try googleEvent(row), endedToken: row[endedToken])
    }

    @inlinable func googleEvent(_ row: some ReadableRow) throws(StorageError) -> GoogleEventReference? {
        guard let kind = try row.code(googleEventKind) else { return nil }
        return GoogleEventReference(kind: kind, reason: try row.code(googleEventReason))
    }
}
