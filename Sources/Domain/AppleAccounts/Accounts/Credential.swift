/// One account's authorization of one app, as callers see it.
public struct Credential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    public let state: CredentialState
    public let reason: CredentialReason?
    public let source: CredentialSource?
    /// The moment of the fact that decides the state.
    public let since: Moment?
    /// By our clock. Known for credentials of an account only.
    public internal(set) var lastSignInAt: Moment?
    /// `nil` until the first code.
    public let refreshToken: RefreshTokenStatus?
    /// End of the time for which the account is disabled; `nil` unless it is. Says nothing about Apple's state.
    public internal(set) var disabledUntil: Moment?

    public init(
        clientID: ClientID, record: CredentialRecord, lastSignInAt: Moment? = nil,
        refreshToken: RefreshTokenStatus? = nil, disabledUntil: Moment? = nil
    ) {
        self.clientID = clientID
        state = record.state
        reason = record.reason
        source = record.source
        since = record.since
        self.lastSignInAt = lastSignInAt
        self.refreshToken = refreshToken
        self.disabledUntil = disabledUntil
    }
}
