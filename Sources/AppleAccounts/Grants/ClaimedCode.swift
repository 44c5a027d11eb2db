/// A code that the caller, and nobody else until the claim ends, is to exchange.
public struct ClaimedCode: Sendable, Hashable {
    public let record: AuthorizationCodeRecord
    public let key: SubjectKey
    /// Whether an earlier claim ended without a word. Then it may have been sent to Apple, and if it was,
    /// nobody has the answer.
    public let isInterrupted: Bool

    public init(record: AuthorizationCodeRecord, key: SubjectKey, isInterrupted: Bool) {
        (self.record, self.key, self.isInterrupted) = (record, key, isInterrupted)
    }
}
