import Encodings
import StrictJSON

/// One request at a receiver, with the result of its verification.
public struct ReceivedMessage: Sendable, Equatable {
    /// Sequence number of the message since the start.
    public internal(set) var number: Int
    public let receiver: EmulatedReceiver
    /// Time of arrival in milliseconds since 1970.
    public let receivedAt: Int64
    /// Reason of the refusal; `nil` for a verified message.
    public let refusal: MessageRefusal?
    /// The event of a verified message.
    public let event: EventFacts?
    /// The body of a webhook, or the claims of a token; truncated.
    public let content: String
    /// The fault that applied to the request.
    public let fault: ReceiverFault.Kind?
    /// Number of arrivals of a verified message's event so far, including this message; 0 for a refused
    /// message.
    public internal(set) var arrival = 0
    /// True if the receiver has accepted the event before.
    public internal(set) var isDuplicate = false
    /// False if the receiver has already accepted a later event of the same account.
    public internal(set) var isInOrder = true
    /// Status of the response; `nil` before the response, and if the connection was closed without a
    /// response.
    public internal(set) var status: Int?

    /// Maximum number of stored characters of the content.
    static let longestContent = 8192

    init(
        _ receiver: EmulatedReceiver, at moment: Int64, _ result: Result<EventFacts, MessageRefusal>,
        content: String, fault: ReceiverFault.Kind? = nil
    ) {
        (number, self.receiver, receivedAt, self.fault) = (0, receiver, moment, fault)
        self.content = String(content.prefix(Self.longestContent))
        switch result {
        case .success(let event): (self.event, refusal) = (event, nil)
        case .failure(let refusal): (event, self.refusal) = (nil, refusal)
        }
    }

    /// Milliseconds from the time at which the service recorded the event in its transaction to the arrival.
    public var latency: Int64? { event?.recordedAt.map { max(receivedAt - $0, 0) } }

    /// True if the receiver responded that it has accepted the message.
    var isTaken: Bool { status.map { (200...299).contains($0) } ?? false }
}

/// Values of an event for display on the page.
public struct EventFacts: Sendable, Equatable {
    /// Event ID: `webhook-id` or `jti`.
    public let id: String
    /// Event type, as named in the feed.
    public let type: String
    /// URI of a security event type.
    public let uri: String?
    /// Account ID, or the user at Apple for users without an account.
    public let user: String?
    /// Time at which the service recorded the event, in milliseconds since 1970.
    public let recordedAt: Int64?
}

extension ReceivedMessage {
    /// The message as JSON, for programs.
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

    /// The message as one line of terminal output.
    var line: String {
        let verdict = refusal.map { "refused as \($0.code.rawValue)" } ?? "verified"
        return ([receiver.rawValue, event?.type ?? "-", verdict] + words).joined(separator: ", ")
            .forTerminal(limit: 400)
    }

    /// Additional facts, for a terminal and for the page.
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
