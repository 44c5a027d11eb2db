/// Finished and remaining steps of an erasure. No member identifies the user.
public struct ErasureRecord: Sendable, Hashable {
    public let id: ErasureID
    public let accountID: AccountID
    public let team: TeamID
    public let requestedAt: Moment
    /// Time from which Apple is no longer asked.
    public let deadline: Moment
    /// Time at which the last Apple code or token was done; the time of the erasure when there was none.
    public var finishedAt: Moment?
    /// In the order of the primary client IDs' bytes.
    public let apps: [ErasedApp]
    /// In the order of their IDs.
    public var tokens: [ErasureToken]

    public init(
        id: ErasureID, accountID: AccountID, team: TeamID, requestedAt: Moment, deadline: Moment,
        finishedAt: Moment? = nil, apps: [ErasedApp], tokens: [ErasureToken]
    ) {
        self.id = id
        self.accountID = accountID
        self.team = team
        self.requestedAt = requestedAt
        self.deadline = deadline
        self.finishedAt = finishedAt
        self.apps = apps
        self.tokens = tokens
    }
}
