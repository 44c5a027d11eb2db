/// The store behind a `CommitLoop`, with its commands and their outcomes.
protocol CommitTarget: Sendable {
    associatedtype Command: Sendable
    associatedtype Outcome: Sendable
    associatedtype Batch: CommittedBatch where Batch.Outcome == Outcome

    /// Commits the commands in one transaction and calls `completion` once, later, on any thread, when they
    /// are durable.
    func commit(
        _ commands: [Command], completion: @escaping @Sendable (Result<Batch, any Error>) -> Void)
}

/// The results of a batch that was committed.
protocol CommittedBatch: Sendable {
    associatedtype Outcome

    /// The sequence number of the last account event of the batch; `nil` when it made none.
    var lastEventSequence: Int64? { get }

    /// Number of results: one for each command.
    var count: Int { get }

    /// The result of the command at this index of the batch.
    func outcome(at index: Int) -> Result<Outcome, any Error>
}
