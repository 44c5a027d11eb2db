/// A grant of an erased account that the caller, and nobody else until the claim ends, is to take a step
/// further.
public struct ClaimedErasureGrant: Sendable, Hashable {
    public let erasureID: ErasureID
    public let accountID: AccountID
    public let team: TeamID
    public let deadline: Moment
    public let grant: ErasureGrant
    /// Whether an earlier claim ended without a word, so that its step may have happened.
    public let isInterrupted: Bool

    public init(
        erasureID: ErasureID, accountID: AccountID, team: TeamID, deadline: Moment, grant: ErasureGrant,
        isInterrupted: Bool
    ) {
        self.erasureID = erasureID
        self.accountID = accountID
        self.team = team
        self.deadline = deadline
        self.grant = grant
        self.isInterrupted = isInterrupted
    }
}
