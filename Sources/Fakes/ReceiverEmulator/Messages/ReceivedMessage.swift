import EmulatorServer
import Encodings
public import StrictJSON

/// One request to a receiver, with its verification result.
public struct ReceivedMessage: Sendable, Equatable {
    /// Sequence number of the message since startup.
    public internal(set) var number: Int
    public let receiver: EmulatedReceiver
    /// Arrival time in milliseconds since 1970.
    public let receivedAt: Int64
    /// Reason why the message was refused; `nil` for a verified message.
    public let refusal: MessageRefusal?
    /// The event of a verified message.
    public let event: EventFacts?
    /// The webhook body, or the token's claims; truncated.
    public let content: String
    /// The fault that applied to the request.
    public let fault: ReceiverFault.Kind?
    /// Number of times that the event of a verified message has arrived so far, including this message; 0 for
    /// a refused message.
    public internal(set) var arrival = 0
    /// True if the receiver has accepted the event before.
    public internal(set) var isDuplicate = false
    /// False if the receiver has already accepted a later event for the same account.
    public internal(set) var isInOrder = true
    /// Response status; `nil` until the response is sent, and if the connection was closed without a
    /// response.
    public internal(set) var status: Int?

    /// Maximum number of characters of the content that are stored.
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

    /// Milliseconds from the transaction that recorded the event to the arrival of the message.
    public var latency: Int64? { event?.recordedAt.map { max(receivedAt - $0, 0) } }

    /// True if the receiver responded that it has accepted the message.
    var isTaken: Bool { status.map { (200...299).contains($0) } ?? false }
}

/// Event values for display on the page.
public struct EventFacts: Sendable, Equatable {
    /// Event ID: `webhook-id` or `jti`.
    public let id: String
    /// Event type, as named in the feed.
    public let type: String
    /// URI of a security event type.
    public let uri: String?
    /// Account ID, or the Apple user ID for users without an account.
    public let user: String?
    /// Time at which the service recorded the event, in milliseconds since 1970.
    public let recordedAt: Int64?
}

extension ReceivedMessage: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("number", "The position of the message since the start.") { $0.number }
        member("receiver", .words(EmulatedReceiver.allCases.map(\.rawValue))) { $0.receiver.rawValue }
        member("received_at", ["format": "date-time"]) { RFC3339.text(milliseconds: $0.receivedAt) }
        member("verdict", ["enum": ["verified", "refused"]]) { $0.refusal == nil ? "verified" : "refused" }
        member("reason", "The code of a refusal.") { $0.refusal?.code.rawValue }
        member("detail", "The refusal in words.") { $0.refusal?.description }
        member("id", "The event's ID: webhook-id or jti.") { $0.event?.id }
        member("type", "The event's type, as in the feed.") { $0.event?.type }
        member("event_uri", "The URI of a security event.") { $0.event?.uri }
        member("user", "The account ID, or Apple's user ID.") { $0.event?.user }
        member("recorded_at", ["format": "date-time"]) {
            $0.event?.recordedAt.map { RFC3339.text(milliseconds: $0) }
        }
        member("latency_ms", "From the commit of the event to its arrival.") { $0.latency }
        member("attempt", "How often the event has arrived.") { $0.event == nil ? nil : $0.arrival }
        member("duplicate", "True if the receiver has accepted the event before.") {
            $0.event == nil ? nil : $0.isDuplicate
        }
        member("in_order", "False if the receiver has accepted a later event of the user before.") {
            $0.event == nil ? nil : $0.isInOrder
        }
        member("fault", .words(ReceiverFault.Kind.allCases.map(\.rawValue))) { $0.fault?.rawValue }
        member("status", "Absent if no response was sent.") { $0.status }
        member("content", "The body of a webhook, or the claims of a token; truncated.") { $0.content }
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
