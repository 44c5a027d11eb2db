/// The result of a batch.
public struct CommitResult: Sendable, Equatable {
    /// One for each command, in their order.
    public let results: [CommandResult]
    /// The sequence number of the last account event of the batch; `nil` when it made none.
    public let lastEventSequence: Int64?

    public init(results: [CommandResult], lastEventSequence: Int64?) {
        (self.results, self.lastEventSequence) = (results, lastEventSequence)
    }
}
