import AppleAccounts
import Encodings
import StrictJSON

extension AuditRow {
    /// The row as a line of an export. It has everything that its hash covers, and the person beside it.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("sequence", .integer(sequence)), ("time", .string(facts.moment.rfc3339)),
            ("actor_kind", .string(facts.actor.kind.rawValue)),
        ]
        func add(_ name: String, _ text: String?) {
            if let text { members.append((name, .string(text))) }
        }
        add("actor", facts.actor.name)
        add("action", facts.action.rawValue)
        add("outcome", facts.outcome.rawValue)
        add("reason", facts.reason)
        add("oauth_client", facts.oauthClient?.rawValue)
        add("request_id", facts.requestID)
        add("detail", facts.detail)
        add("person_digest", entry.personDigest.map { Hexadecimal.encode($0) })
        add("account", entry.person?.account.rawValue)
        add("token_family", entry.person?.tokenFamily.map { Hexadecimal.encode($0.bytes) })
        add("scope", entry.person?.scope)
        add("salt", entry.person.map { Hexadecimal.encode($0.salt) })
        add("hash", link.hashText)
        return .object(JSONObject(members))
    }

    /// The row as a line for a terminal.
    var line: String {
        let actor = [facts.actor.kind.rawValue, facts.actor.name].compactMap { $0 }.joined(separator: " ")
        var parts = [
            "\(sequence)", facts.moment.rfc3339, facts.action.rawValue, facts.outcome.rawValue, "by \(actor)",
        ]
        if let reason = facts.reason { parts.append("reason \(reason)") }
        if let client = facts.oauthClient { parts.append("client \(client.rawValue)") }
        if let person = entry.person {
            parts.append("account \(person.account.rawValue)")
        } else if entry.personDigest != nil {
            parts.append("account erased")
        }
        if let scope = entry.person?.scope { parts.append("scope \(scope)") }
        if let requestID = facts.requestID { parts.append("request \(requestID)") }
        if let detail = facts.detail { parts.append("(\(detail))") }
        return ErrorMessage.withoutControls(parts.joined(separator: "  "))
    }
}
