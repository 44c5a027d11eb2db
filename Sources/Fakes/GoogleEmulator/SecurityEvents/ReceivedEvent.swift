import StrictJSON

/// A security event token that the authorization server has reported, and Google has accepted.
public struct ReceivedEvent: Sendable, Equatable, Codable {
    public let jti: String
    /// The last part of the event's URI, like `token-revoked`.
    public let type: String
    /// Seconds since 1970.
    public let issuedAt: Int64
    /// Lowercase hexadecimal of SHA-512(SHA-512(refresh token)).
    public let tokenHash: String
    /// The link with this refresh token; `nil` when Google does not know the token.
    public let linkID: String?
    /// Number of deliveries.
    public internal(set) var deliveries: Int

    var json: JSONObject {
        var json = JSONObject([
            ("jti", .string(jti)), ("type", .string(type)), ("iat", .integer(issuedAt)),
            ("token", .string(tokenHash)), ("deliveries", .integer(Int64(deliveries))),
        ])
        json["link"] = linkID.map { .string($0) }
        return json
    }
}

/// The accepted events. Pure, and bounded: the oldest events are dropped.
struct EventInbox: Sendable, Codable {
    static let capacity = 200

    private(set) var events: [ReceivedEvent] = []

    /// Adds an event. A repeated delivery of the same `jti` is only counted (RFC 8417 §2.2).
    mutating func add(_ event: ReceivedEvent) {
        if let index = events.firstIndex(where: { $0.jti == event.jti }) {
            events[index].deliveries += 1
            return
        }
        if events.count >= Self.capacity { events.removeFirst() }
        events.append(event)
    }

    mutating func clear() { events = [] }
}
