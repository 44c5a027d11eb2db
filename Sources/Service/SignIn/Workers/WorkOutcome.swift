package import Logging

/// The end of one piece of work.
package enum WorkOutcome<WorkResult: CountedResult>: Sendable {
    /// Nothing is left to be stored.
    case ended(WorkResult)
    /// Nothing is left to be stored, and the work has counted its results itself, because it had several.
    case counted
    /// One write ends the claim: it postpones the work or removes it.
    case ends(WorkResult, with: ClaimEnd)
    /// Without a result, because the work was cut off or its result was not stored. The claim ends by itself,
    /// and the next claimer finds out.
    case cutOff
}

/// A write that ends a claim. It is not repeated when the database fails, because the claim then ends by
/// itself.
package struct ClaimEnd: Sendable {
    /// Logged when the database fails.
    let unstored: Logger.Message
    let write: @Sendable () async throws -> Void

    package init(unstored: Logger.Message, write: @escaping @Sendable () async throws -> Void) {
        (self.unstored, self.write) = (unstored, write)
    }
}
