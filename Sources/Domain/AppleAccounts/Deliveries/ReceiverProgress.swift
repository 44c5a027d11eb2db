/// The result of some attempts, which is written in one transaction.
public struct ReceiverProgress: Sendable, Hashable {
    public var cursor: Int64
    /// Retries that are new or changed.
    public var changed: [DeliveryRetry]
    /// Sequence numbers of the retries that are over.
    public var removed: [Int64]
    /// The end of the claim.
    public var notBefore: Moment
    public var pausedAt: Moment?
    /// The verification that was sent.
    public var verified: EventID?
    /// Makes this progress count as a claim: processes that have read the receiver before cannot write. So of
    /// several processes that read a receiver without a claim one writes.
    public var countsAsClaim: Bool

    public init(
        cursor: Int64, changed: [DeliveryRetry] = [], removed: [Int64] = [], notBefore: Moment,
        pausedAt: Moment? = nil, verified: EventID? = nil, countsAsClaim: Bool = false
    ) {
        (self.cursor, self.changed, self.removed) = (cursor, changed, removed)
        (self.notBefore, self.pausedAt) = (notBefore, pausedAt)
        (self.verified, self.countsAsClaim) = (verified, countsAsClaim)
    }
}
