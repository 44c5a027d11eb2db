public import NIOCore

/// When requests are rejected because of overload. A round is what an event loop does between two looks at its sockets.
public struct AdmissionBounds: Sendable {
    /// The longest round that is acceptable: some 1000 requests that are there at once.
    public var target = TimeAmount.milliseconds(60)
    /// The round past which notifications are rejected too.
    public var notificationTarget = TimeAmount.milliseconds(150)
    /// Between two measurements while rounds are short.
    var rest = TimeAmount.milliseconds(10)
    /// For how long rounds must be too long before requests are rejected. A burst is worked off, and so is what a busy
    /// neighbour on the machine has held up.
    var patience = TimeAmount.milliseconds(200)
    /// What the rejection of one request costs, with its reading and its writing.
    var cost = TimeAmount.microseconds(30)
    /// The part of the loop's work that may go into rejections, in percent.
    ///
    /// A rejection costs half of what a verification costs: a service that rejects everything above its capacity has no
    /// time left for the rest. So what is above this share waits in its sockets, where each connection has one request.
    var share: Int64 = 4

    public init() {}
}
