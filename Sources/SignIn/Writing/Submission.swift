import AppleAccounts

/// A command on its way to the group commit, and whom to tell what came of it.
public struct Submission: Sendable {
    let command: AccountCommand
    /// Called once, on any thread, which it must not hold up.
    let completion: GroupCommit.Completion

    init(_ command: AccountCommand, completion: @escaping GroupCommit.Completion) {
        (self.command, self.completion) = (command, completion)
    }
}
