/// The accepted events. Pure, and bounded: the oldest are dropped.
struct EventInbox: Sendable {
    static let capacity = 200

    private(set) var events: [ReceivedEvent] = []

    /// Counts a repeated delivery of the same `jti` only (RFC 8417 §2.2).
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
