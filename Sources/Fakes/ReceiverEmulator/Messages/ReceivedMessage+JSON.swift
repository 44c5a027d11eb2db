import Encodings
import StrictJSON

extension ReceivedMessage {
    /// The message for programs.
    var json: JSONObject {
        var json = JSONObject([
            ("number", .integer(Int64(number))), ("receiver", .string(receiver.rawValue)),
            ("received_at", .string(RFC3339.text(milliseconds: receivedAt))),
            ("verdict", .string(refusal == nil ? "verified" : "refused")),
        ])
        json["reason"] = refusal.map { .string($0.code.rawValue) }
        json["detail"] = refusal.map { .string($0.description) }
        if let event {
            json["id"] = .string(event.id)
            json["type"] = .string(event.type)
            json["event_uri"] = event.uri.map { .string($0) }
            json["user"] = event.user.map { .string($0) }
            json["recorded_at"] = event.recordedAt.map { .string(RFC3339.text(milliseconds: $0)) }
            json["latency_ms"] = latency.map { .integer($0) }
            json["attempt"] = .integer(Int64(arrival))
            json["duplicate"] = .bool(isDuplicate)
            json["in_order"] = .bool(isInOrder)
        }
        json["fault"] = fault.map { .string($0.rawValue) }
        json["status"] = status.map { .integer(Int64($0)) }
        json["content"] = .string(content)
        return json
    }

    /// The message as one line for terminals.
    var line: String {
        let verdict = refusal.map { "refused as \($0.code.rawValue)" } ?? "verified"
        return ([receiver.rawValue, event?.type ?? "-", verdict] + words).joined(separator: ", ")
            .forTerminal(limit: 400)
    }

    /// Further facts, for a terminal and for the page.
    var words: [String] {
        var words: [String] = []
        if let latency { words.append("\(latency) ms after the commit") }
        if event != nil { words.append("attempt \(arrival)") }
        words.append(status.map { "answered \($0)" } ?? "not answered")
        if isDuplicate { words.append("seen before") }
        if !isInOrder { words.append("out of order") }
        return words
    }
}
