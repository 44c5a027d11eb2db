/// Queue of callers that wait for a free connection, the longest waiting first. Bounded in number and in
/// time. Does no I/O and reads no clock.
struct WaitingLine<Ticket: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// More callers would not be served in time.
    static var longest: Int { 4096 }

    private struct Place: Sendable {
        let number: UInt64
        let deadline: Instant
        let ticket: Ticket
    }

    private var places: [Place] = []
    /// Number of entries at the front that have left. They are removed in bulk.
    private var gone = 0
    private var nextNumber: UInt64 = 0

    init() {}

    var isEmpty: Bool { places.count == gone }
    var count: Int { places.count - gone }

    /// Deadline of the first waiting caller.
    var nextDeadline: Instant? { isEmpty ? nil : places[gone].deadline }

    mutating func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// Returns `false` when the queue is full.
    mutating func join(_ ticket: Ticket, number: UInt64, until deadline: Instant) -> Bool {
        guard places.count - gone < Self.longest else { return false }
        places.append(Place(number: number, deadline: deadline, ticket: ticket))
        return true
    }

    mutating func first() -> Ticket? {
        guard !isEmpty else { return nil }
        defer { drop() }
        return places[gone].ticket
    }

    mutating func leave(number: UInt64) -> Ticket? {
        guard let index = places[gone...].firstIndex(where: { $0.number == number }) else { return nil }
        return places.remove(at: index).ticket
    }

    mutating func expired(at now: Instant) -> [Ticket] {
        var tickets: [Ticket] = []
        while let deadline = nextDeadline, deadline <= now, let ticket = first() { tickets.append(ticket) }
        return tickets
    }

    mutating func all() -> [Ticket] {
        // The numbers are never reused: a caller that was woken may be about to stop waiting.
        defer { (places, gone) = ([], 0) }
        return places[gone...].map(\.ticket)
    }

    private mutating func drop() {
        gone += 1
        guard gone == places.count || gone >= 1024 else { return }
        places.removeFirst(gone)
        gone = 0
    }
}
