public import StrictJSON

/// An event's JSON in the event feed. Webhooks send the same bytes.
extension AccountEvent: JSONBody {
    public static var schemaName: String { "Event" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.id }
        member("type") { $0.kind }
        member("team_id") { $0.team }
        member("sub", "Absent for an erased account.") { $0.subject }
        member("account_id") { $0.accountID }
        member("client_id") { $0.clientID }
        // All events have their reason in the same member.
        member(
            "reason",
            .combined(
                "anyOf", [CredentialReason.schema, GrantEndReason.schema],
                "With `grant_revoked` and `token_revoked`, the reason of the grant.")
        ) { $0.reason?.rawValue ?? $0.grant?.reason?.rawValue }
        member("source") { $0.source }
        member("grant") { $0.grant }
        member("occurred_at", "By Apple's clock.") { $0.moment }
        member("recorded_at", "By this service's clock.") { $0.recordedAt }
    }

    public func write(into json: inout JSONWriter) { json.object(self) }
}

extension GrantReference: JSONBody {
    public static var schemaName: String { "GrantOfEvent" }
    public static var schemaText: String {
        "The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and `token_revoked`."
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.id }
        member("client_id", .length(1...255, "The OAuth client.")) { $0.oauthClientID.rawValue }
        member("reason", "Only with `grant_revoked` and `token_revoked`.") { $0.reason }
        member("google_event", "Only with the reason `google_revoked`.") { $0.googleEvent }
    }
}

extension GoogleEventReference: JSONBody {
    public static var schemaName: String { "GoogleEvent" }
    public static var schemaText: String { "The security event of Google that ended the grant." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "type",
            .words(
                [GoogleEventKind.sessionsRevoked, .tokensRevoked, .tokenRevoked, .accountDisabled].map(
                    \.rawValue),
                "The last part of the event's URI.")
        ) { $0.kind.rawValue }
        member(
            "reason",
            .words(
                GoogleEventReason.allCases.map(\.rawValue),
                "Google's reason. Absent when Google gave no reason, or an unknown one.")
        ) { $0.reason?.rawValue }
    }
}

// Names and raw values that events and accounts share.

extension Moment: JSONMember {
    public static var schema: JSONSchema {
        .component("Time") {
            [
                "type": "string", "format": "date-time",
                "description": "RFC 3339 in UTC, always with milliseconds.",
                "pattern": #"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"#,
                "examples": ["2026-11-21T02:24:03.000Z"],
            ]
        }
    }

    public func write(into json: inout JSONWriter) { json.value(rfc3339) }
}

extension JSONSchema {
    /// - Parameter prefix: Text that precedes the UUID.
    fileprivate static func uniqueID(_ name: String, _ prefix: String, _ text: String = "") -> JSONSchema {
        let group = "-[0-9a-f]{4}"
        return .component(name) {
            JSONSchema([
                ("type", "string"),
                ("pattern", .string("^\(prefix)[0-9a-f]{8}\(group)\(group)\(group)-[0-9a-f]{12}$")),
            ]).with(JSONSchema(stringLiteral: text))
        }
    }

    fileprivate static func name(_ name: String, _ text: String) -> JSONSchema {
        .component(name) { String.schema.with(.length(1...255, text)) }
    }
}

extension AccountID: JSONMember {
    public static var schema: JSONSchema { .uniqueID("AccountID", "acc_", "Opaque and stable.") }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension EventID: JSONMember {
    public static var schema: JSONSchema {
        .uniqueID("EventID", "evt_", "Stays the same when the event is read again.")
    }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension ErasureID: JSONMember {
    public static var schema: JSONSchema { .uniqueID("ErasureID", "era_") }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension GrantID: JSONMember {
    public static var schema: JSONSchema { .uniqueID("GrantID", "grt_") }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension AppleSubject: JSONMember {
    public static var schema: JSONSchema {
        .name("Subject", "`sub`: Apple's user ID for one team. It is compared as bytes.")
    }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension ClientID: JSONMember {
    public static var schema: JSONSchema { .name("ClientID", "A bundle ID or a Services ID.") }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension TeamID: JSONMember {
    public static var schema: JSONSchema { .name("TeamID", "An Apple developer team.") }
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension AccountEvent.Kind: JSONWord {
    public static var schemaName: String { "EventType" }
}

extension GrantEndReason: JSONWord {
    public static var schemaName: String { "GrantEndReason" }
}

extension CredentialState: JSONWord {
    public static var schemaName: String { "CredentialState" }
    public static var schemaText: String {
        "The values of `getCredentialState`. The user may stay signed in only with `authorized`."
    }
}

extension CredentialReason: JSONWord {
    public static var schemaName: String { "CredentialReason" }
}

extension CredentialSource: JSONWord {
    public static var schemaName: String { "CredentialSource" }
}
