/// What is remembered of one subject for one app. It changes with every sign-in, so stores keep it narrow.
public struct AppCredential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// This app's own facts, without those that hold for all apps.
    public var record: CredentialRecord
    /// By our clock.
    public var lastSignInAt: Moment?
    /// `nil` while no code ever came.
    public var refreshToken: RefreshTokenStatus?
    /// What the store has to do with this row.
    public internal(set) var rowChange: RowChange = .none

    public init(
        clientID: ClientID, record: CredentialRecord = .init(), lastSignInAt: Moment? = nil,
        refreshToken: RefreshTokenStatus? = nil
    ) {
        self.clientID = clientID
        self.record = record
        self.lastSignInAt = lastSignInAt
        self.refreshToken = refreshToken
    }
}
