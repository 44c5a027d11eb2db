import Encodings
import StrictJSON

/// One request at a receiver, with the result of its verification.
public struct ReceivedMessage: Sendable, Equatable {
    /// Counts all messages since the start.
    public internal(set) var number: Int
    public let receiver: EmulatedReceiver
    /// Milliseconds since 1970.
    public let receivedAt: Int64
    /// `nil` for a verified message.
    public let refusal: MessageRefusal?
    /// The event of a verified message.
    public let event: EventFacts?
    /// The body of a webhook, or the claims of a token; cut.
    public let content: String
    /// The fault that applied.
    public let fault: ReceiverFault.Kind?
    /// Number of times that the event of a verified message has arrived, with this one; 0 for a refused message.
    public internal(set) var arrival = 0
    /// True if the receiver had taken the event before.
    public internal(set) var isDuplicate = false
    /// False if an event of the same account that was recorded later has been taken before.
    public internal(set) var isInOrder = true
    /// The status of the answer. `nil` until then, and when the connection was closed without an answer.
    public internal(set) var status: Int?

    /// Characters of the content that are kept.
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

    /// Milliseconds between the moment at which the service recorded the event, in the transaction, and the
    /// arrival.
    public var latency: Int64? { event?.recordedAt.map { max(receivedAt - $0, 0) } }

    /// True if the receiver answered that it has taken the message.
    var isTaken: Bool { status.map { (200...299).contains($0) } ?? false }
}

/// The contents of an event that the page shows.
public struct EventFacts: Sendable, Equatable {
    /// The event's ID: `webhook-id` or `jti`.
    public let id: String
    /// The event's type in the words of the feed.
    public let type: String
    /// The URI of a security event.
    public let uri: String?
    /// The account, or for users without one the user at Apple.
    public let user: String?
    /// Milliseconds since 1970.
    public let recordedAt: Int64?
}

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
