import Glibc

/// Sends the scheduled requests and reads their responses, in a single thread.
struct Load {
    /// Time to wait for responses after the schedule ends, in nanoseconds.
    private static let patience: Int64 = 2_000_000_000

    private(set) var tally = Tally()
    private let requests: RequestSet
    private let port: UInt16
    private let schedule: Schedule
    private var connections: [Connection]
    /// Descriptors for poll(2), one per connection: -1 unless the connection is waiting for a response.
    private var waits: [pollfd]
    /// Indices of the connections that have no request.
    private var idle: [Int]
    private var sent = 0
    private var pending = 0
    private var buffer = [UInt8](repeating: 0, count: 16384)

    init(requests: RequestSet, port: UInt16, connections count: Int, rate: Double, seconds: Double) throws {
        (self.requests, self.port) = (requests, port)
        connections = try (0..<count).map { _ in try Connection(port: port) }
        waits = Array(repeating: pollfd(fd: -1, events: Int16(POLLIN), revents: 0), count: count)
        idle = Array(0..<count)
        schedule = Schedule(rate: rate, seconds: seconds, start: .now)
    }

    mutating func run() throws {
        while Instant.now < schedule.end {
            try sendWhatIsDue(at: .now)
            // The next request is due within microseconds, so poll must not wait.
            try takeAnswers(waiting: 0)
        }
        for request in sent..<schedule.count { tally.countUnsent(waited: latency(of: request)) }
        let end = Instant(nanoseconds: schedule.end.nanoseconds + Self.patience)
        while pending > 0, Instant.now < end { try takeAnswers(waiting: 10) }
        tally.failed += pending
    }

    private mutating func sendWhatIsDue(at now: Instant) throws {
        let due = schedule.due(at: now)
        while sent < due, let index = idle.popLast() {
            let request = sent
            sent += 1
            connections[index].request = request
            pending += 1
            guard requests.withRequest(request, connections[index].send) else {
                try lose(index)
                continue
            }
            waits[index].fd = connections[index].descriptor
        }
    }

    private mutating func takeAnswers(waiting milliseconds: Int32) throws {
        guard poll(&waits, nfds_t(waits.count), milliseconds) > 0 else { return }
        for index in waits.indices where waits[index].revents != 0 { try takeAnswer(of: index) }
    }

    private mutating func takeAnswer(of index: Int) throws {
        guard let request = connections[index].request,
            let count = buffer.withUnsafeMutableBytes({ connections[index].receive(into: $0) })
        else { return try lose(index) }
        switch connections[index].reader.read(buffer[..<count]) {
        case .incomplete: break
        case .malformed: try lose(index)
        case .response(let status, let closes):
            tally.count(status: status, latency: latency(of: request), isInTime: Instant.now < schedule.end)
            try free(index, reconnecting: closes)
        }
    }

    /// Returns the time since a request was due.
    private func latency(of request: Int) -> Int64 {
        Instant.now.nanoseconds - schedule.moment(of: request).nanoseconds
    }

    /// Counts a connection's request as failed, and reconnects.
    private mutating func lose(_ index: Int) throws {
        tally.failed += 1
        try free(index, reconnecting: true)
    }

    private mutating func free(_ index: Int, reconnecting: Bool) throws {
        pending -= 1
        waits[index].fd = -1
        connections[index].request = nil
        if reconnecting {
            connections[index].close()
            connections[index] = try Connection(port: port)
        }
        idle.append(index)
    }
}
