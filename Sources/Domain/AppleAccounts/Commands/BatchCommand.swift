/// A command that a store commits together with others: `AccountCommand`, and `GrantCommand` of the
/// authorization server.
public protocol BatchCommand: Sendable {
    /// Outcome of one command that was carried out.
    associatedtype Outcome: Sendable
    /// Results of the commands that were committed together.
    associatedtype Batch: CommittedBatch where Batch.Outcome == Outcome
}

extension AccountCommand: BatchCommand {
    public typealias Outcome = AccountOutcome
    public typealias Batch = CommitResult
}
