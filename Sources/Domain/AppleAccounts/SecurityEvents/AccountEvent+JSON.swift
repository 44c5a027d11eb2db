public import StrictJSON

extension JSONWriter {
    /// Writes an event as the event feed shows it. Webhooks have the same bytes.
    public mutating func value(_ event: AccountEvent) {
        beginObject()
        member("id", event.id.rawValue)
        member("type", event.kind.rawValue)
        member("team_id", event.team.rawValue)
        member("sub", ifPresent: event.subject?.rawValue)
        member("account_id", ifPresent: event.accountID?.rawValue)
        member("client_id", ifPresent: event.clientID?.rawValue)
        // Readers find the reason of every event in the same member.
        member("reason", ifPresent: event.reason?.rawValue ?? event.grant?.reason?.rawValue)
        member("source", ifPresent: event.source?.rawValue)
        if let grant = event.grant {
            name("grant")
            value(grant)
        }
        member("occurred_at", event.moment.rfc3339)
        member("recorded_at", event.recordedAt.rfc3339)
        endObject()
    }

    private mutating func value(_ grant: GrantReference) {
        beginObject()
        member("id", grant.id.rawValue)
        member("client_id", grant.oauthClientID.rawValue)
        member("reason", ifPresent: grant.reason?.rawValue)
        if let event = grant.googleEvent {
            name("google_event")
            beginObject()
            member("type", event.kind.rawValue)
            member("reason", ifPresent: event.reason?.rawValue)
            endObject()
        }
        endObject()
    }
}
