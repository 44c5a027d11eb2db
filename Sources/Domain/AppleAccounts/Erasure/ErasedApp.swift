/// Facts about one app at the erasure of the account.
public struct ErasedApp: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Indicates that a refresh token was held.
    public let hadToken: Bool
    public let stateBefore: CredentialState
    public let reasonBefore: CredentialReason?
    /// Reason why no token was held although a code had come.
    public let refreshTokenCause: RefreshTokenCause?

    public init(
        clientID: ClientID, hadToken: Bool, stateBefore: CredentialState,
        reasonBefore: CredentialReason? = nil,
        refreshTokenCause: RefreshTokenCause? = nil
    ) {
        self.clientID = clientID
        self.hadToken = hadToken
        self.stateBefore = stateBefore
        self.reasonBefore = reasonBefore
        self.refreshTokenCause = refreshTokenCause
    }
}
