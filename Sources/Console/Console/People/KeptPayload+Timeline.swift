import AppleAccounts
import Encodings
import Inspection
import StrictJSON

extension KeptPayload {
    /// Returns true if an event tells of the same.
    func made(_ event: AccountEvent) -> Bool {
        event.source == .notification && event.moment == moment && event.recordedAt == receivedAt
            && (event.clientID == nil || event.clientID == clientID)
    }

    /// A row for a notification without an entry in the history.
    func item(account: Account?) -> TimelineItem {
        let isEarlier = account.map { receivedAt < $0.createdAt } ?? false
        var item = TimelineItem(
            title: "Apple's notification: \(type)", look: .plain, app: clientID, moment: moment,
            recordedAt: receivedAt,
            effect: isEarlier
                ? "It came before the account was known here. Its moment counts in the state rule."
                : "It is kept in the inbox. The history has no entry about its effect any more.")
        item.facts = facts
        return item
    }

    /// The claims of the notification. The signature is left out: nothing on a page can be used as a token.
    var facts: [TimelineItem.Fact] {
        let parts = payload.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(Array(parts[1])[...]),
            let claims = try? JSONValue(parsing: bytes).object
        else { return [TimelineItem.Fact(name: "payload", value: "not readable")] }
        return claims.members.flatMap { name, value in
            name == "events" ? Self.facts(ofEvents: value) : [Self.fact(name, value, of: name)]
        }
    }

    /// The moment that a number is: Apple's claims have seconds, and its events milliseconds.
    private static func moment(_ claim: String, _ value: JSONValue) -> Moment? {
        guard let number = value.integer else { return nil }
        switch claim {
        case "iat", "exp": return Moment(seconds: number)
        case "event_time": return Moment(milliseconds: number)
        default: return nil
        }
    }

    /// The members of each event. Apple has sent an object or an array of objects, in a text or not.
    private static func facts(ofEvents value: JSONValue) -> [TimelineItem.Fact] {
        let inner = value.string.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? value
        let events = (inner.array ?? [inner]).compactMap(\.object)
        guard !events.isEmpty else { return [fact("events", value, of: "events")] }
        return events.enumerated().flatMap { index, event in
            let prefix = events.count == 1 ? "events" : "events.\(index + 1)"
            return event.members.map { fact("\(prefix).\($0.name)", $0.value, of: $0.name) }
        }
    }

    private static func fact(_ name: String, _ value: JSONValue, of claim: String) -> TimelineItem.Fact {
        let moment = moment(claim, value).map { " (\($0.shown))" } ?? ""
        return TimelineItem.Fact(
            name: name, value: text(value) + moment,
            masked: text(PersonMask.masked(value, of: claim)) + moment)
    }

    private static func text(_ value: JSONValue) -> String {
        value.string ?? String(decoding: value.serialized(), as: UTF8.self)
    }
}
