/// An Apple code or token of an erased account, claimed: until the claim ends, only this caller works on it.
public struct ClaimedErasureToken: Sendable, Hashable {
    public let erasureID: ErasureID
    public let accountID: AccountID
    public let team: TeamID
    public let deadline: Moment
    public let token: ErasureToken
    /// Indicates that an earlier claim ended without a result, so that its step may have happened.
    public let isInterrupted: Bool

    public init(
        erasureID: ErasureID, accountID: AccountID, team: TeamID, deadline: Moment, token: ErasureToken,
        isInterrupted: Bool
    ) {
        self.erasureID = erasureID
        self.accountID = accountID
        self.team = team
        self.deadline = deadline
        self.token = token
        self.isInterrupted = isInterrupted
    }
}
