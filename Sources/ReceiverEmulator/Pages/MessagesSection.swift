import EmulatorServer
import Encodings
import StrictJSON

/// The latest messages, newest first. The newest is open.
struct MessagesSection {
    /// Number of messages on the page. The control API shows all that are kept.
    static let shown = 50

    let log: MessageLog
    /// Token of the form (CSRF).
    let token: String
    let isWatching: Bool

    var html: String {
        let items = log.messages.suffix(Self.shown).reversed().map(item)
        let list =
            items.isEmpty
            ? "<p>None yet. Let a user sign in, or stop using the app.</p>" : items.joined(separator: "\n")
        let watch =
            isWatching
            ? "<a class=\"button\" href=\"/\">Stop watching</a>"
            : "<a class=\"button\" href=\"/?watch=1\">Watch</a>"
        return """
            <section id="messages">
            <div class="row bar"><h2>Messages, newest first</h2>
            <form method="post" action="/clear">\(HiddenFields.html([("token", token)]))
            <div class="row"><a class="button" href="/">Reload</a>\(watch)
            <button>Forget all</button></div></form></div>
            \(list)
            </section>
            """
    }

    private func item(_ message: ReceivedMessage) -> String {
        let verdict =
            message.refusal.map { "<span class=\"bad\">refused as \($0.code.rawValue)</span>" }
            ?? "<span class=\"good\">verified</span>"
        let type = message.event?.type ?? "no event"
        let words = ([message.receiver.title] + message.words).joined(separator: " · ")
        let cells = Self.rows(of: message).map { row in
            "<tr><th>\(row.name)</th><td>\(row.value.htmlEscaped)</td></tr>"
        }
        return """
            <details id="message-\(message.number)"\(message.number == log.messages.last?.number ? " open" : "")>\
            <summary>\(message.number). <b>\(type.htmlEscaped)</b> \(verdict)<br>\
            <span class="soft">\(words.htmlEscaped)</span></summary>
            <table>\(cells.joined())</table>
            <pre>\(Self.indented(message.content).htmlEscaped)</pre></details>
            """
    }

    private static func rows(of message: ReceivedMessage) -> [(name: String, value: String)] {
        var rows = [("received", RFC3339.text(milliseconds: message.receivedAt))]
        if let refusal = message.refusal { rows.append(("refused", refusal.description)) }
        if let fault = message.fault { rows.append(("fault", fault.rawValue)) }
        guard let event = message.event else { return rows }
        if let time = event.recordedAt { rows.append(("committed", RFC3339.text(milliseconds: time))) }
        rows.append(("event", event.id))
        if let user = event.user { rows.append(("user", user)) }
        if let uri = event.uri { rows.append(("type", uri)) }
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
