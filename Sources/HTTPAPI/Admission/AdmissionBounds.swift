public import NIOCore

/// When requests are rejected because of overload. A round is the time in which an event loop serves all
/// sockets that had something to read.
public struct AdmissionBounds: Sendable {
    /// The longest round that is acceptable: that of some 1000 requests which are there at once.
    public var target = TimeAmount.milliseconds(60)
    /// The round past which notifications are rejected too.
    public var notificationTarget = TimeAmount.milliseconds(150)
    /// The pause between two measurements while rounds are short.
    var rest = TimeAmount.milliseconds(10)
    /// For how long rounds must be too long before requests are rejected. A burst is shorter, and so is a
    /// pause that other processes on the machine cause.
    var patience = TimeAmount.milliseconds(200)
    /// What the rejection of one request costs, including reading and writing.
    var cost = TimeAmount.microseconds(30)
    /// The part of the loop's work that may go into rejections, in percent.
    ///
    /// A rejection costs half of what a verification costs. A service that rejects every request above its
    /// capacity has no time left for the others. So requests above this share wait in their sockets, where
    /// each connection has one.
    var share: Int64 = 4

    public init() {}
}
