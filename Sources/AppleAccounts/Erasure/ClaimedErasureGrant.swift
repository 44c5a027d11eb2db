/// A grant of an erased account, claimed: until the claim ends, only this caller works on it.
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
