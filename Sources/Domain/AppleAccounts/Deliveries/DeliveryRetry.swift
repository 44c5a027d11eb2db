/// An event that a receiver has not taken yet, or that waits behind such an event of the same account.
///
/// It has the number of the event only. The event is read from the feed at each attempt, so after an erasure
/// an attempt names no user.
public struct DeliveryRetry: Sendable, Hashable {
    /// Number of events of one receiver that can wait in this way. When they are all used, the receiver's
    /// cursor stays where it is.
    public static let mostPerReceiver = 256

    public let sequence: Int64
    /// Number of failed attempts. 0 for an event that waits behind another one.
    public var attempts: Int64
    public var dueAt: Moment
    /// The moment from which the time until the pause counts: that of the first failed attempt, or of the
    /// resumption of the receiver.
    public var waitingSince: Moment

    public init(sequence: Int64, attempts: Int64, dueAt: Moment, waitingSince: Moment) {
        (self.sequence, self.attempts) = (sequence, attempts)
        (self.dueAt, self.waitingSince) = (dueAt, waitingSince)
    }
}
