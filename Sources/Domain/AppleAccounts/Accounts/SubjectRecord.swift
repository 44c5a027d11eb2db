import Cryptography
import Encodings

/// All facts about one subject: the unit that a command loads, changes and saves.
///
/// A record can exist without an account: it stores facts from Apple about a user who is not yet known here,
/// because the user's sign-in may not have arrived yet.
public struct SubjectRecord: Sendable, Hashable {
    /// The key. It changes when the account is transferred to another team.
    public internal(set) var key: SubjectKey
    /// The account; `nil` while the user is not known here.
    public var accountID: AccountID?
    /// Creation time; `nil` exactly when `accountID` is.
    public var createdAt: Moment?
    /// The address. Its moment moves with every sign-in that confirms the address. Stores may save the moment
    /// in the credential's row, which is written anyway, as long as they load the latest moment.
    public var email: LastWriter<EmailAddress>?
    /// Address posted by the app; stored only until Apple has signed an address.
    public var unsignedEmail: String?
    public var forwarding: LastWriter<EmailForwarding>?
    public var profile = Profile()
    public var realUserStatus: Int64?
    /// Revocation that ends the credentials of all apps, also of apps that are first seen later.
    public var revocationOfAllApps: Revocation?
    /// The disabling, which may have expired; `nil` if there is none.
    public var disabling: Disabling?
    /// Time of the sign-out everywhere: authentications up to this moment, by our clock, are not valid.
    public var sessionsEndedAt: Moment?
    /// True if the store has a row for the facts that apply to all apps.
    public var hasRowOfAllApps = false
    /// Credentials, sorted by client ID.
    public var credentials: [AppCredential]
    /// True if the store has a row for this subject.
    public internal(set) var isStored: Bool
    /// True if the row is a tombstone: the remainder of an erased user. It has only a revocation of all apps.
    /// It stays unchanged when the user comes back and gets a new row.
    public internal(set) var isTombstone = false
    /// Write that the store must make to the row with everything except the credentials.
    public internal(set) var rowChange: RowChange = .none

    /// Creates an unknown subject, or the first state of a record that the store then fills.
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
        // A caller learns only about accounts of its own apps.
        return Credential(
            clientID: clientID, record: record(for: clientID), refreshToken: own?.refreshToken,
            disabledUntil: own == nil ? nil : disabling?.until)
    }

    /// Returns the effective facts for one app: its own, and the facts that apply to all apps.
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

extension SubjectRecord {
    /// Marks the row with everything except the credentials. A subject without a row gets a new row.
    mutating func touchRow() {
        if rowChange == .none { rowChange = isStored ? .update : .insert }
    }

    /// Keeps the tombstone and begins a new row, because the user came back.
    mutating func leaveTombstone() {
        guard isTombstone else { return }
        isTombstone = false
        isStored = false
        rowChange = .insert
    }

    /// The record as it will be loaded after its changes are saved; `nil` when
    /// the store has no row for it, or a tombstone.
    public var saved: SubjectRecord? {
        guard !isTombstone, isStored || rowChange == .insert else { return nil }
        var record = self
        record.isStored = true
        record.hasRowOfAllApps = hasRowOfAllApps || hasFactsOfAllApps
        record.rowChange = .none
        for index in record.credentials.indices { record.credentials[index].rowChange = .none }
        return record
    }

    /// Marks the row of one app's credential, and creates the credential if it is missing. Returns its index.
    mutating func touchCredential(of clientID: ClientID) -> Int {
        let (index, isPresent) = position(of: clientID)
        if isPresent {
            if credentials[index].rowChange == .none { credentials[index].rowChange = .update }
        } else {
            credentials.insert(AppCredential(clientID: clientID), at: index)
            credentials[index].rowChange = .insert
            // A credential refers to its subject's row.
            if !isStored { touchRow() }
        }
        return index
    }

    /// Sets the refresh token status of an app's credential.
    mutating func setRefreshToken(_ status: RefreshTokenStatus, of clientID: ClientID) {
        let (index, isPresent) = position(of: clientID)
        guard !isPresent || credentials[index].refreshToken != status else { return }
        credentials[touchCredential(of: clientID)].refreshToken = status
    }

    func refreshToken(of clientID: ClientID) -> RefreshTokenStatus? {
        credentials.first { $0.clientID == clientID }?.refreshToken
    }
}

/// A user's identity within one team. It is the key of accounts; an e-mail address never is.
public struct SubjectKey: Hashable, Sendable {
    public let team: TeamID
    public let subject: AppleSubject

    public init(team: TeamID, subject: AppleSubject) {
        (self.team, self.subject) = (team, subject)
    }
}

extension SubjectKey: Comparable {
    /// Defines the order in which stores lock, so that two stores cannot wait for each other.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.team, lhs.subject) < (rhs.team, rhs.subject)
    }
}

extension SubjectKey {
    /// Replacement of the `sub` after an erasure: U+0001, which no `sub` can have, and the SHA-256 of team,
    /// line feed and `sub`. The `sub` leads to the tombstone, but cannot be computed from it.
    public var tombstoneName: String {
        let bytes = Array(team.rawValue.utf8) + [UInt8(ascii: "\n")] + Array(subject.rawValue.utf8)
        return "\u{1}" + Hexadecimal.encode(SHA256Digest.hash(bytes))
    }
}

/// Facts about one subject for one app. They change with every sign-in, so stores keep the row narrow.
public struct AppCredential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Facts of this app alone, without the facts that hold for all apps.
    public var record: CredentialRecord
    /// Time of the last sign-in, by our clock.
    public var lastSignInAt: Moment?
    /// Status of the refresh token; `nil` until the first code.
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

/// The facts about a user that apply to all apps, also to apps that are first seen later. Stores have one row
/// for them beside the credentials, so that a read of a state finds them there.
public struct FactsOfAllApps: Sendable, Hashable {
    public let revocation: Revocation?
    public let disabling: Disabling?
    public let sessionsEndedAt: Moment?

    public init(
        revocation: Revocation? = nil, disabling: Disabling? = nil, sessionsEndedAt: Moment? = nil
    ) {
        self.revocation = revocation
        self.disabling = disabling
        self.sessionsEndedAt = sessionsEndedAt
    }
}

extension SubjectRecord {
    /// The facts to write when the subject's row has changed. `nil` when
    /// there are none and the store has no row for them.
    public var factsOfAllApps: FactsOfAllApps? {
        guard hasRowOfAllApps || hasFactsOfAllApps else { return nil }
        return FactsOfAllApps(
            revocation: revocationOfAllApps, disabling: disabling, sessionsEndedAt: sessionsEndedAt)
    }

    var hasFactsOfAllApps: Bool {
        revocationOfAllApps != nil || disabling != nil || sessionsEndedAt != nil
    }
}
