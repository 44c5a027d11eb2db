/// All facts about one subject: the unit that a command loads, changes and saves.
///
/// A record can exist without an account: facts from Apple about a user who is not yet known here are kept,
/// because the user's sign-in may not have arrived yet.
public struct SubjectRecord: Sendable, Hashable {
    /// Changes when the account is transferred to another team.
    public internal(set) var key: SubjectKey
    /// `nil` while the user is not known here.
    public var accountID: AccountID?
    /// `nil` exactly when `accountID` is.
    public var createdAt: Moment?
    /// The moment moves with every sign-in that confirms the address. Stores may keep the moment beside the
    /// credential, which is written anyway, as long as they load the latest moment.
    public var email: LastWriter<EmailAddress>?
    /// Address posted by the app; kept only until Apple has signed an address.
    public var unsignedEmail: String?
    public var forwarding: LastWriter<EmailForwarding>?
    public var profile = Profile()
    public var realUserStatus: Int64?
    /// Ends the credentials of all apps, also of apps that are first seen later.
    public var revocationOfAllApps: Revocation?
    /// `nil` unless the account is disabled, or was disabled until a moment that may have passed since.
    public var disabling: Disabling?
    /// Authentications up to this moment, by our clock, count no more: the user was signed out everywhere.
    public var sessionsEndedAt: Moment?
    /// Indicates that the store has a row for the facts that hold for all apps.
    public var hasRowOfAllApps = false
    /// Sorted by client ID.
    public var credentials: [AppCredential]
    /// Indicates that the store has a row for this subject.
    public internal(set) var isStored: Bool
    /// Indicates that the row is a tombstone: the remainder of an erased user. It has a revocation of all
    /// apps and nothing else. It stays unchanged when the user comes back and gets a new row.
    public internal(set) var isTombstone = false
    /// Write that the store must make to the row that holds everything except the credentials.
    public internal(set) var rowChange: RowChange = .none

    /// Creates an unknown subject, or the first state of a record that the store then fills in.
    public init(key: SubjectKey, isStored: Bool = false) {
        self.key = key
        self.isStored = isStored
        credentials = []
    }

    /// Creates the tombstone of an erased user.
    public init(tombstoneOf key: SubjectKey, erasedAt moment: Moment) {
        self.init(key: key, isStored: true)
        isTombstone = true
        revocationOfAllApps = Revocation(moment: moment, reason: .erased, source: .erasure)
    }

    public var account: Account? {
        guard let accountID, let createdAt else { return nil }
        return account(accountID, createdAt: createdAt)
    }

    /// Returns the account. The record must have an account.
    func account(_ id: AccountID, createdAt: Moment) -> Account {
        Account(
            id: id, team: key.team, subject: key.subject,
            email: email?.value.address ?? unsignedEmail,
            isEmailVerified: email?.value.isVerified ?? (unsignedEmail == nil ? nil : false),
            isPrivateEmail: email?.value.isPrivate, emailForwarding: forwarding?.value ?? .unknown,
            profile: profile, realUserStatus: realUserStatus, disabling: disabling,
            sessionsEndedAt: sessionsEndedAt, createdAt: createdAt,
            lastSignInAt: credentials.lazy.compactMap(\.lastSignInAt).max(),
            credentials: credentials.map {
                Credential(
                    clientID: $0.clientID, record: $0.record.merged(with: revocationOfAllApps),
                    lastSignInAt: $0.lastSignInAt, refreshToken: $0.refreshToken,
                    disabledUntil: disabling?.until)
            })
    }

    /// Returns the credential for one app, as callers see it, also for an unknown app.
    public func credential(for clientID: ClientID) -> Credential {
        let own = credentials.first { $0.clientID == clientID }
        // A caller learns about accounts of its own apps only.
        return Credential(
            clientID: clientID, record: record(for: clientID), refreshToken: own?.refreshToken,
            disabledUntil: own == nil ? nil : disabling?.until)
    }

    /// Returns the facts that count for one app: its own, and the facts that hold for all apps.
    public func record(for clientID: ClientID) -> CredentialRecord {
        let own = credentials.first { $0.clientID == clientID }?.record ?? CredentialRecord()
        return own.merged(with: revocationOfAllApps)
    }

    /// Returns the index of an app's credential, or the index at which to insert it.
    func position(of clientID: ClientID) -> (index: Int, isPresent: Bool) {
        for (index, credential) in credentials.enumerated() where !(credential.clientID < clientID) {
            return (index, credential.clientID == clientID)
        }
        return (credentials.count, false)
    }
}

/// Write that a store must make to a row at the end of a batch.
public enum RowChange: Sendable, Hashable {
    case none, update, insert
}
