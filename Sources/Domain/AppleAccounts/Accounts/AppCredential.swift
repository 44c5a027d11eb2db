/// Facts about one subject for one app. They change with every sign-in, so stores keep the row narrow.
public struct AppCredential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Facts of this app alone, without the facts that hold for all apps.
    public var record: CredentialRecord
    /// By our clock.
    public var lastSignInAt: Moment?
    /// `nil` until the first code.
    public var refreshToken: RefreshTokenStatus?
    /// Write that the store must make to this row.
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
