import AppleAccounts
import Encodings
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
        return claims.members.flatMap { Self.facts($0.name, $0.value) }
    }

    /// The moment that a number is: Apple's claims have seconds, and its events milliseconds.
    private static func moment(_ name: String, _ value: JSONValue) -> Moment? {
        guard let number = value.integer else { return nil }
        switch name {
        case "iat", "exp": return Moment(seconds: number)
        case "events.event_time": return Moment(milliseconds: number)
        default: return nil
        }
    }

    private static func facts(_ name: String, _ value: JSONValue) -> [TimelineItem.Fact] {
        // Apple sends the event as a text that is JSON.
        if name == "events", let text = value.string,
            let event = try? JSONValue(parsing: Array(text.utf8)).object
        {
            return event.members.flatMap { facts("events.\($0.name)", $0.value) }
        }
        var text = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
        if let moment = moment(name, value) { text += " (\(moment.shown))" }
        return [TimelineItem.Fact(name: name, value: text, isPersonal: name.hasSuffix("email"))]
    }
}
