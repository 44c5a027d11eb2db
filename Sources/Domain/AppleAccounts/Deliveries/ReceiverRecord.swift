/// The position of a receiver in the event feed.
///
/// Every event up to the cursor was delivered, or is of a type or app that the receiver does not want, or has a
/// `DeliveryRetry`. Nothing is stored for the events after it.
public struct ReceiverRecord: Sendable, Hashable {
    public let name: ReceiverName
    public var cursor: Int64
    /// Number of claims so far, also of replays. Only the process with the last claim may write, so a process
    /// that was held up for longer than its claim changes nothing.
    public var claims: Int64
    /// The moment before which the receiver cannot be claimed: the end of its claim.
    public var notBefore: Moment
    /// `nil` unless the receiver is paused. A paused receiver gets nothing until an operator resumes it.
    public var pausedAt: Moment?
    /// A verification that was asked for and is not sent yet.
    public var verification: StreamVerification?
    /// The moment at which a verification was asked for last.
    public var verificationAskedAt: Moment?

    public init(
        name: ReceiverName, cursor: Int64, claims: Int64 = 0, notBefore: Moment, pausedAt: Moment? = nil,
        verification: StreamVerification? = nil, verificationAskedAt: Moment? = nil
    ) {
        (self.name, self.cursor, self.claims) = (name, cursor, claims)
        (self.notBefore, self.pausedAt) = (notBefore, pausedAt)
        (self.verification, self.verificationAskedAt) = (verification, verificationAskedAt)
    }
}

/// A receiver with all that waits for it besides the feed.
public struct ClaimedReceiver: Sendable, Hashable {
    public var record: ReceiverRecord
    /// In the order of their sequence numbers.
    public var retries: [DeliveryRetry]

    public init(record: ReceiverRecord, retries: [DeliveryRetry]) {
        (self.record, self.retries) = (record, retries)
    }
}

/// A receiver as a worker sees it before it claims it.
public struct DueReceiver: Sendable, Hashable {
    public let record: ReceiverRecord
    /// The moment from which the receiver can be claimed; `nil` when it has nothing to do.
    public let at: Moment?

    public init(record: ReceiverRecord, at: Moment?) {
        (self.record, self.at) = (record, at)
    }
}

extension ClaimedReceiver {
    /// Indicates that the events after the cursor can be attempted: what fails still has room.
    public var hasRoom: Bool { retries.count < DeliveryRetry.mostPerReceiver }

    /// Returns the number of events that the receiver has not taken, at most: those after its cursor can be of
    /// types or apps that it does not want.
    public func waiting(lastSequence: Int64) -> Int64 {
        max(lastSequence - record.cursor, 0) + Int64(retries.count)
    }

    /// Returns the moment from which the receiver can be claimed; `nil` when it is paused or has nothing to
    /// do.
    ///
    /// - Parameter lastSequence: Number of the last event of the feed.
    public func due(lastSequence: Int64) -> Moment? {
        guard record.pausedAt == nil else { return nil }
        if record.verification != nil { return record.notBefore }
        if record.cursor < lastSequence, hasRoom { return record.notBefore }
        return retries.map(\.dueAt).min().map { max($0, record.notBefore) }
    }
}
