public import NIOCore

/// What one client may cost this service.
public struct ServerLimits: Sendable {
    /// Request line and header fields together, in bytes.
    public var headerBytes = 16 * 1024
    public var headerFields = 64
    public var bodyBytes = 64 * 1024
    /// From the first byte of a request to its last; bounds a client that sends one byte at a time.
    public var requestTime = TimeAmount.seconds(15)
    /// From the end of a request to its answer, besides what the call waits by intention. What is below has bounds of its
    /// own; this one holds when they do not.
    public var workTime = TimeAmount.seconds(10)
    /// How long a connection may stay open between two requests.
    public var idleTime = TimeAmount.seconds(60)
    /// How long an answer may wait for a client that does not read.
    public var answerTime = TimeAmount.seconds(15)
    /// How long a refused client may go on sending, so that it can read the refusal instead of a reset.
    public var lingerTime = TimeAmount.seconds(2)
    /// Past this, connections wait in the kernel's queue.
    public var connections = 4096
    var admission = AdmissionRule.Bounds.forThisBuild

    public init() {}
}
