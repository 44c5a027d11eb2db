/// A refresh token, claimed for its daily check. The time of its next check is already moved, so no other
/// worker checks it.
public struct ClaimedCheck: Sendable, Hashable {
    public let tokenID: UniqueID
    public let accountID: AccountID
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let sealed: SealedSecret
    public let authorizedAt: Moment
    public let key: SubjectKey

    public init(_ token: RefreshTokenRecord, key: SubjectKey) {
        tokenID = token.id
        accountID = token.accountID
        clientID = token.clientID
        primaryClientID = token.primaryClientID
        sealed = token.sealed
        authorizedAt = token.authorizedAt
        self.key = key
    }
}
