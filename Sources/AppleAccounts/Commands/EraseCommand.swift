/// Somebody asked for an account to be erased.
public struct EraseCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    public let erasureID: ErasureID
    /// By our clock.
    public let requestedAt: Moment
    /// When to give up asking Apple.
    public let deadline: Moment

    public init(
        key: SubjectKey, accountID: AccountID, erasureID: ErasureID, requestedAt: Moment, deadline: Moment
    ) {
        self.key = key
        self.accountID = accountID
        self.erasureID = erasureID
        self.requestedAt = requestedAt
        self.deadline = deadline
    }
}
