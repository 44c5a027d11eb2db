/// Everything that is remembered of one subject: the unit that a command loads, changes and saves.
///
/// There can be a record without an account: what Apple tells about a person whom we do not know yet is
/// remembered, because the sign-in that it belongs before may still be on its way.
public struct SubjectRecord: Sendable, Hashable {
    /// Changes when the account is transferred to another team.
    public internal(set) var key: SubjectKey
    /// `nil` while the person is not known here.
    public var accountID: AccountID?
    /// `nil` exactly when `accountID` is.
    public var createdAt: Moment?
    /// The moment moves with every sign-in that confirms the address. Stores may keep that moment beside the
    /// credential, which is written anyway, as long as they load the latest.
    public var email: LastWriter<EmailAddress>?
    /// What the app posted along; kept only while Apple has not signed an address.
    public var unsignedEmail: String?
    public var forwarding: LastWriter<EmailForwarding>?
    public var profile = Profile()
    public var realUserStatus: Int64?
    /// Ends the credentials of all apps, also of those that are first seen later.
    public var revocationOfAllApps: Revocation?
    /// Sorted by client ID.
    public var credentials: [AppCredential]
    /// Whether the store has a row for it.
    public internal(set) var isStored: Bool
    /// Whether that row is a tombstone: all that is left of a person who was erased. It has a revocation of
    /// all apps and nothing else, and it stays what it is when the person comes back and gets a new row.
    public internal(set) var isTombstone = false
    /// What the store has to do with the row that holds everything but the credentials.
    public internal(set) var rowChange: RowChange = .none

    /// A subject that nothing is known of, or the begin of one that the store goes on to fill in.
    public init(key: SubjectKey, isStored: Bool = false) {
        self.key = key
        self.isStored = isStored
        credentials = []
    }

    /// The tombstone of a person who was erased.
    public init(tombstoneOf key: SubjectKey, erasedAt moment: Moment) {
        self.init(key: key, isStored: true)
        isTombstone = true
        revocationOfAllApps = Revocation(moment: moment, reason: .erased, source: .erasure)
    }

    public var account: Account? {
        guard let accountID, let createdAt else { return nil }
        return account(accountID, createdAt: createdAt)
    }

    /// The account of this record, which has one.
    func account(_ id: AccountID, createdAt: Moment) -> Account {
        Account(
            id: id, team: key.team, subject: key.subject,
            email: email?.value.address ?? unsignedEmail,
            isEmailVerified: email?.value.isVerified ?? (unsignedEmail == nil ? nil : false),
            isPrivateEmail: email?.value.isPrivate, emailForwarding: forwarding?.value ?? .unknown,
            profile: profile, realUserStatus: realUserStatus, createdAt: createdAt,
            lastSignInAt: credentials.lazy.compactMap(\.lastSignInAt).max(),
            credentials: credentials.map {
                Credential(
                    clientID: $0.clientID, record: $0.record.merged(with: revocationOfAllApps),
                    refreshToken: $0.refreshToken)
            })
    }

    /// The credential for one app, as callers see it. There is one also for an app that nothing is known of.
    public func credential(for clientID: ClientID) -> Credential {
        Credential(
            clientID: clientID, record: record(for: clientID),
            refreshToken: credentials.first { $0.clientID == clientID }?.refreshToken)
    }

    /// The facts that count for one app: its own, and those that hold for all.
    public func record(for clientID: ClientID) -> CredentialRecord {
        let own = credentials.first { $0.clientID == clientID }?.record ?? CredentialRecord()
        return own.merged(with: revocationOfAllApps)
    }

    /// Where the credential of an app is, or belongs.
    func position(of clientID: ClientID) -> (index: Int, isPresent: Bool) {
        for (index, credential) in credentials.enumerated() where !(credential.clientID < clientID) {
            return (index, credential.clientID == clientID)
        }
        return (credentials.count, false)
    }
}

/// What a store has to do with one of its rows at the end of a batch.
public enum RowChange: Sendable, Hashable {
    case none, update, insert
}
