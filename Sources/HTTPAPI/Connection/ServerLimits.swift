public import NIOCore

/// What one client may cost this service.
public struct ServerLimits: Sendable {
    /// Request line and header fields together, in bytes.
    public var headerBytes = 16 * 1024
    public var headerFields = 64
    public var bodyBytes = 64 * 1024
    /// What the framing of a chunked body may take: sizes, extensions and line ends together, in bytes.
    public var framingBytes = 16 * 1024
    /// What one read takes from a socket, in bytes. It is one read that may wait behind an answer.
    public var readBytes = 8 * 1024
    /// How many requests of one connection may wait for the answer before them. One more is refused, and ends the
    /// connection.
    public var waitingRequests = 32
    /// Past so many bytes of answers that the client has not read, nothing more is read from it.
    public var unsentBytes = 16 * 1024
    /// What all connections together may hold of incomplete bodies, besides the first 8 KiB of each.
    public var heldBodyBytes = 32 * 1024 * 1024
    /// From the first byte of a request to its last; bounds a client that sends one byte at a time.
    public var requestTime = TimeAmount.seconds(15)
    /// From the end of a request to its answer, besides what the call waits by intention. What is below has bounds of its
    /// own; this one holds when they do not.
    public var workTime = TimeAmount.seconds(10)
    /// How long a connection may stay open between two requests.
    public var idleTime = TimeAmount.seconds(60)
    /// The same when there are nearly as many connections as there may be; in between it shrinks.
    public var leastIdleTime = TimeAmount.seconds(1)
    /// How long an answer may wait for a client that does not read.
    public var unreadResponseTime = TimeAmount.seconds(15)
    /// How long a refused client may go on sending, so that it can read the refusal instead of a reset.
    public var lingerTime = TimeAmount.seconds(2)
    /// Past this, connections wait in the kernel's queue.
    public var connections = 4096
    /// The part of all connections that one address may hold, in percent. An IPv6 address stands for its /64 network.
    public var addressShare = 50
    /// These may hold any number: many clients come through one of them.
    public var trustedProxies: [AddressBlock] = []
    /// When requests are rejected because of overload.
    public var admission = AdmissionBounds()

    public init() {}
}
