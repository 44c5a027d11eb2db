/// One sealed secret with what it is bound to.
public struct SealedRow: Sendable, Hashable {
    /// Where to go on after it.
    public let cursor: SealedCursor
    public let purpose: SealedPurpose
    public let accountID: AccountID
    public let clientID: ClientID
    public let sealed: SealedSecret

    public init(
        cursor: SealedCursor, purpose: SealedPurpose, accountID: AccountID, clientID: ClientID,
        sealed: SealedSecret
    ) {
        self.cursor = cursor
        self.purpose = purpose
        self.accountID = accountID
        self.clientID = clientID
        self.sealed = sealed
    }
}
