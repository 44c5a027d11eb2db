import EmulatorServer
import Encodings
import StrictJSON

/// A message on the page.
struct MessageEntry {
    private let number: Int
    private let type: String
    private let refusal: String?
    private let words: String
    private let rows: [PageField]
    private let content: String

    init(_ message: ReceivedMessage) {
        (number, type) = (message.number, message.event?.type ?? "no event")
        refusal = message.refusal?.code.rawValue
        words = ([message.receiver.title] + message.words).joined(separator: " · ")
        (rows, content) = (Self.rows(of: message), Self.indented(message.content))
    }

    private static func rows(of message: ReceivedMessage) -> [PageField] {
        var rows = [PageField("received", RFC3339.text(milliseconds: message.receivedAt))]
        if let refusal = message.refusal { rows.append(PageField("refused", refusal.description)) }
        if let fault = message.fault { rows.append(PageField("fault", fault.rawValue)) }
        guard let event = message.event else { return rows }
        if let time = event.recordedAt {
            rows.append(PageField("committed", RFC3339.text(milliseconds: time)))
        }
        rows.append(PageField("event", event.id))
        if let user = event.user { rows.append(PageField("user", user)) }
        if let uri = event.uri { rows.append(PageField("type", uri)) }
        return rows
    }

    /// Formats JSON with one member per line. Returns another text as it is.
    static func indented(_ text: String) -> String {
        guard let json = try? JSONValue(parsing: Array(text.utf8), limits: MessageChecks.limits) else {
            return text
        }
        return json.indented()
    }
}
