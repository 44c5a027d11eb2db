/// What is remembered of one subject for one app. It changes with every sign-in, so stores keep it narrow.
public struct AppCredential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// This app's own facts, without those that hold for all apps.
    public var record: CredentialRecord
    /// By our clock.
    public var lastSignInAt: Moment?
    /// What the store has to do with this row.
    public internal(set) var rowChange: RowChange = .none

    public init(clientID: ClientID, record: CredentialRecord = .init(), lastSignInAt: Moment? = nil) {
        self.clientID = clientID
        self.record = record
        self.lastSignInAt = lastSignInAt
    }
}
