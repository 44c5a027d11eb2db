import NIOCore

/// Decides the next step of a connection. It contains all time and size limits, does no I/O and reads no
/// clock.
///
/// A connection handles one request at a time, and only one deadline applies at a time: `deadline`. The owner
/// of the state keeps a timer for this deadline.
struct ConnectionState {
    enum Phase: Equatable {
        /// No byte of the next request has arrived.
        case waiting
        /// Part of a request has arrived.
        case receiving
        /// The request is complete, but its response has not been written yet.
        case responding
        /// The last response has been written. The connection closes once the client has received it.
        case closing
    }

    private(set) var phase = Phase.waiting
    /// Current deadline; `nil` while the request being handled waits for nothing.
    private(set) var deadline: NIODeadline?
    /// Time that the connection may be idle. It depends on the number of connections.
    var idleTime: TimeAmount
    private let limits: ServerLimits
    private var bodyBytes = 0
    private var closesAfterResponse = false
    private var isQuiescing = false
    private var isStalled = false
    private var workDeadline: NIODeadline?

    init(limits: ServerLimits, openedAt now: NIODeadline) {
        self.limits = limits
        idleTime = limits.idleTime
        // A new connection that sends nothing gets less time than a connection that has already sent a
        // request.
        deadline = now + limits.requestTime
    }

    /// True if closing the connection would affect only a slow client: either no request is waiting for its
    /// response, or the client does not read the response.
    var isExpendable: Bool { phase != .responding || isStalled }

    /// Records bytes that arrive before a request head is parsed.
    mutating func bytesArrived(at now: NIODeadline) {
        guard phase == .waiting, !isStalled else { return }
        phase = .receiving
        deadline = now + limits.requestTime
    }

    enum HeadAction: Equatable { case collectBody, refuseTooLarge }

    mutating func headArrived(announcing length: Int?, keepsAlive: Bool, at now: NIODeadline) -> HeadAction {
        // A pipelined request was read together with the previous request, so its time starts only here.
        if phase == .waiting {
            phase = .receiving
            deadline = now + limits.requestTime
        }
        bodyBytes = 0
        closesAfterResponse = !keepsAlive || isQuiescing
        return (length ?? 0) > limits.bodyBytes ? .refuseTooLarge : .collectBody
    }

    enum BodyAction: Equatable { case keep, refuseTooLarge }

    /// Counts the bytes of a body, because a chunked body declares no length.
    mutating func bodyArrived(byteCount: Int) -> BodyAction {
        bodyBytes += byteCount
        return bodyBytes > limits.bodyBytes ? .refuseTooLarge : .keep
    }

    mutating func endArrived() {
        phase = .responding
        workDeadline = nil
        if !isStalled { deadline = nil }
    }

    /// Starts the time limit of a complete request that waits for the database or for a task. The time that
    /// the request took to arrive does not count.
    mutating func workBegan(at now: NIODeadline, waiting ownWait: TimeAmount = .zero) {
        let end = now + limits.workTime + ownWait
        workDeadline = end
        if !isStalled { deadline = end }
    }

    enum ResponseAction: Equatable { case keepOpen, closeWhenWritten }

    /// True if the response being written is the connection's last response.
    var isLastResponse: Bool { closesAfterResponse || isQuiescing }

    mutating func responded(at now: NIODeadline) -> ResponseAction {
        if isLastResponse {
            phase = .closing
            deadline = now + limits.unreadResponseTime
            return .closeWhenWritten
        }
        phase = .waiting
        deadline = now + (isStalled ? limits.unreadResponseTime : idleTime)
        return .keepOpen
    }

    /// Records the refusal of an incomplete request. For a while, the connection then reads and drops
    /// whatever the client still sends, because a reset would destroy the response before the client reads
    /// it.
    mutating func refused(at now: NIODeadline) {
        phase = .closing
        deadline = now + limits.lingerTime
    }

    /// Records that the client has stopped reading its responses.
    mutating func stalled(at now: NIODeadline) {
        isStalled = true
        deadline = now + limits.unreadResponseTime
    }

    mutating func drained(at now: NIODeadline) {
        guard isStalled else { return }
        isStalled = false
        switch phase {
        case .waiting: deadline = now + idleTime
        case .receiving: deadline = now + limits.requestTime
        case .responding: deadline = workDeadline
        case .closing: break
        }
    }

    enum EndAction: Equatable { case closeWhenWritten, finishResponse }

    /// Records that the client will send no more bytes.
    mutating func inputEnded(at now: NIODeadline) -> EndAction {
        guard phase == .responding else { return close(at: now) }
        closesAfterResponse = true
        return .finishResponse
    }

    /// Begins the service's shutdown. The connection finishes requests that have begun, and begins no new
    /// request.
    mutating func quiesce(at now: NIODeadline) -> EndAction {
        isQuiescing = true
        return phase == .waiting ? close(at: now) : .finishResponse
    }

    private mutating func close(at now: NIODeadline) -> EndAction {
        if phase != .closing { deadline = now + limits.unreadResponseTime }
        phase = .closing
        return .closeWhenWritten
    }

    enum TimerAction: Equatable {
        case wait(until: NIODeadline)
        /// The connection has no deadline.
        case rest
        case respondTimeout
        /// The request has taken too long. The connection closes after the response.
        case respondUnavailable
        case close
    }

    mutating func timerFired(at now: NIODeadline) -> TimerAction {
        guard let deadline else { return .rest }
        if now < deadline { return .wait(until: deadline) }
        guard !isStalled else { return .close }
        switch phase {
        case .receiving: return .respondTimeout
        case .responding:
            closesAfterResponse = true
            return .respondUnavailable
        case .waiting, .closing: return .close
        }
    }
}

/// Reason the engine refuses an incomplete request. The connection closes after the response.
package enum RequestRefusal: Sendable {
    /// The received bytes are not an HTTP/1.1 request, or two recipients could interpret them differently.
    case malformed
    case headerTooLarge
    case bodyTooLarge
    /// The request did not arrive completely within `ServerLimits.requestTime`.
    case timedOut
    /// Too many requests or bytes are already waiting.
    case overloaded
}

/// Counts received bytes for which the decoder has produced no output yet: incomplete header fields, empty
/// lines, white space, chunk sizes and chunk extensions.
///
/// The decoder limits the size of names and values. But it skips white space and chunk extensions, and keeps
/// an incomplete field in memory, so without this count a client could send megabytes of them. The count can
/// lag by one read.
struct UnparsedBytes {
    private let mostInHead: Int
    private let mostInBody: Int
    private var count = 0
    private var isInBody = false

    init(limits: ServerLimits) {
        // The decoder limits only names and values, so this limit adds room for line ends and colons.
        mostInHead = limits.headerBytes + 4 * limits.headerFields + 1024
        mostInBody = limits.framingBytes
    }

    /// Counts the bytes of a read before the decoder gets them. Returns the reason if the engine must refuse
    /// the request, and `nil` otherwise.
    mutating func received(_ byteCount: Int) -> RequestRefusal? {
        guard count <= (isInBody ? mostInBody : mostInHead) else {
            return isInBody ? .bodyTooLarge : .headerTooLarge
        }
        count += byteCount
        return nil
    }

    mutating func parsedHead() { (count, isInBody) = (0, true) }

    mutating func parsedBody(_ byteCount: Int) { count = max(0, count - byteCount) }

    mutating func parsedEnd() { (count, isInBody) = (0, false) }
}
