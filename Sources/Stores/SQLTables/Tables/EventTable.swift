public import AppleAccounts
public import Cryptography

/// The table of the account event feed. Its rows remain after an erasure, because their subject is then a
/// tombstone, which identifies no user.
public typealias EventTable = RecordTable<AccountEvent>

extension AccountEvent: StoredRecord {
    public typealias Given = (team: TeamID, subject: AppleSubject?, clientID: ClientID?)

    public static var table: String { "event" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let sequence = try column("sequence", .operational, \.sequence)
        let id = try column("id", .operational, \.id)
        let kind = try column.code("kind", .operational, \.kind)
        column.other("subject_id", .operational, Int64.self)
        // The account ID at the time of the event.
        let accountID = try column("account_id", .operational, \.accountID)
        let clientID = column.number("app_id") { $0.clientID }
        let reason = try column.code("reason", .operational, \.reason)
        let source = try column.code("source", .operational, \.source)
        let moment = try column("moment", .operational, \.moment)
        let recordedAt = try column("recorded_at", .operational, \.recordedAt)
        let grantID = try column.part("grant_id", .operational) { $0.grant?.id }
        let client = try column.part("oauth_client", .operational) { $0.grant?.oauthClientID }
        let end = try column.codePart("grant_reason", .operational) { $0.grant?.reason }
        // The kind of Google event; set only for grants that a Google event ended.
        let google = try column.codePart("google_event_kind", .operational) { $0.grant?.googleEvent?.kind }
        let googleReason = try column.codePart("google_event_reason", .operational) {
            $0.grant?.googleEvent?.reason
        }
        // The double digest of an ended refresh token, reported to Google. It does not identify a user.
        let endedToken = try column.part("ended_token", .operational) { $0.grant?.endedToken }
        var grant: GrantReference?
        if let grantID {
            grant = GrantReference(
                id: grantID, oauthClientID: try column.required(client, "oauth_client"), reason: end,
                googleEvent: google.map { GoogleEventReference(kind: $0, reason: googleReason) },
                endedToken: endedToken)
        }
        return AccountEvent(
            sequence: sequence, id: id, kind: kind, team: column.given { $0.team },
            subject: column.given({ $0.subject }, nil), accountID: accountID, clientID: clientID,
            reason: reason, source: source, grant: grant, moment: moment, recordedAt: recordedAt)
    }
}
