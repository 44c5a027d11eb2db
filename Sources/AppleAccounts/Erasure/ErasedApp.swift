/// What was known for one app when the account was erased.
public struct ErasedApp: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Whether a refresh token was held.
    public let hadToken: Bool
    public let stateBefore: CredentialState
    public let reasonBefore: CredentialReason?
    /// Why no token was held, when a code had come.
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
