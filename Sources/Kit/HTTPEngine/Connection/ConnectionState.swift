import NIOCore

/// Decides the next step of a connection: every bound on time and size, without I/O and without a clock.
///
/// One request is handled at a time. `deadline` is the only deadline that applies; the owner of the state
/// keeps a timer for it.
struct ConnectionState {
    enum Phase: Equatable {
        /// No byte of the next request has arrived.
        case waiting
        /// Part of a request has arrived.
        case receiving
        /// The request is complete and its response is being made.
        case responding
        /// The last response is written. The connection closes when the client has received it.
        case closing
    }

    private(set) var phase = Phase.waiting
    /// The deadline; `nil` while the handled request waits for nothing.
    private(set) var deadline: NIODeadline?
    /// Time for which the connection may be idle. It changes with the number of connections.
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
        // A new connection that sends nothing gets less time than a
        // connection that has already sent a request.
        deadline = now + limits.requestTime
    }

    /// True if closing the connection would cost only the time of a slow client: no response is being made,
    /// or the client does not read the response.
    var isExpendable: Bool { phase != .responding || isStalled }

    /// Notes bytes that belong to no request yet.
    mutating func bytesArrived(at now: NIODeadline) {
        guard phase == .waiting, !isStalled else { return }
        phase = .receiving
        deadline = now + limits.requestTime
    }

    enum HeadAction: Equatable { case collectBody, refuseTooLarge }

    mutating func headArrived(announcing length: Int?, keepsAlive: Bool, at now: NIODeadline) -> HeadAction {
        // A pipelined request was read together with the request before it: its time starts here.
        if phase == .waiting {
            phase = .receiving
            deadline = now + limits.requestTime
        }
        bodyBytes = 0
        closesAfterResponse = !keepsAlive || isQuiescing
        return (length ?? 0) > limits.bodyBytes ? .refuseTooLarge : .collectBody
    }

    enum BodyAction: Equatable { case keep, refuseTooLarge }

    /// Counts bytes of a body. A chunked body has no declared length.
    mutating func bodyArrived(byteCount: Int) -> BodyAction {
        bodyBytes += byteCount
        return bodyBytes > limits.bodyBytes ? .refuseTooLarge : .keep
    }

    mutating func endArrived() {
        phase = .responding
        workDeadline = nil
        if !isStalled { deadline = nil }
    }

    /// Starts the time of a complete request that waits for the database or for a
    /// task. The time of its arrival does not count.
    mutating func workBegan(at now: NIODeadline, waiting ownWait: TimeAmount = .zero) {
        let end = now + limits.workTime + ownWait
        workDeadline = end
        if !isStalled { deadline = end }
    }

    enum ResponseAction: Equatable { case keepOpen, closeWhenWritten }

    /// True if the response that is being written is the connection's last.
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

    /// Notes that a request was refused before its end. Drops bytes that the client still sends for a while,
    /// because a reset would destroy the response before the client reads it.
    mutating func refused(at now: NIODeadline) {
        phase = .closing
        deadline = now + limits.lingerTime
    }

    /// Notes that the client does not read its responses.
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

    /// Notes that the client will send nothing more.
    mutating func inputEnded(at now: NIODeadline) -> EndAction {
        guard phase == .responding else { return close(at: now) }
        closesAfterResponse = true
        return .finishResponse
    }

    /// Begins the shutdown of the service: requests that have begun are finished, and no new request begins.
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
        /// There is no deadline.
        case rest
        case respondTimeout
        /// The request takes too long. The connection closes after this response.
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

/// A reason for which the engine refuses a request before it is complete. The connection closes after the response.
package enum RequestRefusal: Sendable {
    /// The received bytes are not a request of HTTP/1.1, or two
    /// readers could understand the request differently.
    case malformed
    case headerTooLarge
    case bodyTooLarge
    /// The request did not arrive completely within `ServerLimits.requestTime`.
    case timedOut
    /// Too many requests or bytes already wait.
    case overloaded
}

/// Counts received bytes from which the decoder has made nothing yet: incomplete header fields, empty lines,
/// white space, chunk sizes and chunk extensions.
///
/// The decoder bounds names and values. But it skips white space and chunk extensions, and keeps an
/// incomplete field in memory, so that a client could send megabytes of such bytes. The count is up to one
/// read behind.
struct UnparsedBytes {
    private let mostInHead: Int
    private let mostInBody: Int
    private var count = 0
    private var isInBody = false

    init(limits: ServerLimits) {
        // The decoder bounds names and values. This bound adds line ends and colons.
        mostInHead = limits.headerBytes + 4 * limits.headerFields + 1024
        mostInBody = limits.framingBytes
    }

    /// Counts the bytes of a read, before the decoder gets them. Returns the reason for which the request
    /// must be refused, or `nil`.
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
