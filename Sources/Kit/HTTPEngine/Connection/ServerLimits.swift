public import NIOCore

/// Limits on the service's resources that clients can use.
public struct ServerLimits: Sendable {
    /// Request line and header fields together, in bytes.
    public var headerBytes = 16 * 1024
    public var headerFields = 64
    public var bodyBytes = 64 * 1024
    /// Everything in a chunked body but its content: sizes, extensions and line ends together, in bytes.
    public var framingBytes = 16 * 1024
    /// Number of bytes that one read takes from a socket. One read may wait for a response.
    public var readBytes = 8 * 1024
    /// Number of requests of one connection that may wait for the response before them. A request above it is
    /// refused, and the connection closes.
    public var waitingRequests = 32
    /// Number of unread bytes of responses above which no more requests are read from a client.
    public var unsentBytes = 16 * 1024
    /// Number of bytes of incomplete bodies that all connections together may hold, not counting the first 8
    /// KiB of each.
    public var heldBodyBytes = 32 * 1024 * 1024
    /// Time from the first byte of a request to its last. Bounds clients that send one byte at a time.
    public var requestTime = TimeAmount.seconds(15)
    /// Time from the end of a request to its response, in addition to the time that its route waits by
    /// design. The database and other servers have time limits of their own; this limit applies when those
    /// limits fail.
    public var workTime = TimeAmount.seconds(10)
    /// Time for which a connection may stay open between two requests.
    public var idleTime = TimeAmount.seconds(60)
    /// Idle time when the number of connections is near its limit. Between few and many connections the idle
    /// time shrinks.
    public var leastIdleTime = TimeAmount.seconds(1)
    /// Time for which a response may wait for a client that does not read.
    public var unreadResponseTime = TimeAmount.seconds(15)
    /// Time for which a refused client may go on sending, so that it can read the response instead of a
    /// reset.
    public var lingerTime = TimeAmount.seconds(2)
    /// Number of connections above which new connections wait in the kernel's queue.
    public var connections = 4096
    /// The part of all connections that one address may hold, in percent. For IPv6 it is the /64 network.
    public var addressShare = 50
    /// Addresses that may hold any number of connections, because many clients connect through them.
    public var trustedProxies: [AddressBlock] = []
    /// Bounds above which requests are rejected because of overload.
    public var admission = AdmissionBounds()

    public init() {}
}
