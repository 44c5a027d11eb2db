/// A refresh token, claimed for its daily check. The time of its next check is already moved, so no other
/// worker checks it.
public struct ClaimedCheck: Sendable, Hashable {
    public let tokenID: UniqueID
    public let accountID: AccountID
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let sealed: SealedSecret
    public let authorizedAt: Moment
    /// Time since which the check has been due and none has succeeded.
    public let dueSince: Moment
    public let key: SubjectKey

    /// - Parameter token: The token before the claim.
    public init(_ token: RefreshTokenRecord, key: SubjectKey) {
        tokenID = token.id
        accountID = token.accountID
        clientID = token.clientID
        primaryClientID = token.primaryClientID
        sealed = token.sealed
        authorizedAt = token.authorizedAt
        dueSince = token.uncheckedSince ?? token.nextCheckAt
        self.key = key
    }
}
