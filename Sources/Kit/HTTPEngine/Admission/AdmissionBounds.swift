public import NIOCore

/// Bounds above which requests are rejected because of overload. A round is the time in which an event loop
/// serves all sockets that had something to read.
public struct AdmissionBounds: Sendable {
    /// The longest acceptable round: a round of some 1000 requests that arrive at once.
    public var target = TimeAmount.milliseconds(60)
    /// The round past which notifications are rejected too.
    public var notificationTarget = TimeAmount.milliseconds(150)
    /// The pause between two measurements while rounds are short.
    var rest = TimeAmount.milliseconds(10)
    /// Time for which rounds must be too long before requests are rejected. A burst is shorter, and so is a
    /// pause that other processes on the machine cause.
    var patience = TimeAmount.milliseconds(200)
    /// Cost of the rejection of one request, including reading and writing.
    var cost = TimeAmount.microseconds(30)
    /// The part of the loop's work that may go into rejections, in percent.
    ///
    /// A rejection costs half of what a verification costs. A service that rejects every request above its
    /// capacity has no time left for the other requests. So requests above this share wait in their sockets,
    /// at most one for each connection.
    var share: Int64 = 4

    public init() {}
}
