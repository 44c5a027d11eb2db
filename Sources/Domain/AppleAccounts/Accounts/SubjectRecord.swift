import Cryptography
import Encodings

/// All facts about one subject: the unit that commands load, change and save.
///
/// A record can exist without an account: Apple's facts about a user who is not yet known to the service are
/// stored too, because the user's sign-in may simply not have arrived yet.
public struct SubjectRecord: Sendable, Hashable {
    /// The key, which changes when the account is transferred to another team.
    public internal(set) var key: SubjectKey
    /// The account; `nil` until the service knows the user.
    public var accountID: AccountID?
    /// Creation time; `nil` if and only if `accountID` is `nil`.
    public var createdAt: Moment?
    /// The address. Its moment advances with every sign-in that confirms the address. Stores may save the
    /// moment in the credential's row, which is written anyway, as long as they load the latest moment.
    public var email: LastWriter<EmailAddress>?
    /// Address posted by the app; stored only until Apple signs an address.
    public var unsignedEmail: String?
    public var forwarding: LastWriter<EmailForwarding>?
    public var profile = Profile()
    public var realUserStatus: Int64?
    /// Revocation that ends the credentials for all apps, including apps that are first seen later.
    public var revocationOfAllApps: Revocation?
    /// The disabled period, which may have expired; `nil` if there is none.
    public var disabling: Disabling?
    /// Time of the last sign-out everywhere, by our clock: authentications up to this moment are not valid.
    public var sessionsEndedAt: Moment?
    /// True if the store has a row with the facts that apply to all apps.
    public var hasRowOfAllApps = false
    /// Credentials, sorted by client ID.
    public var credentials: [AppCredential]
    /// True if the store has a row for this subject.
    public internal(set) var isStored: Bool
    /// True if the row is a tombstone: the remainder of an erased user, with only a revocation for all apps.
    /// If the user returns, the tombstone stays unchanged and the user gets a new row.
    public internal(set) var isTombstone = false
    /// Change that the store must write to the subject's row, which has all facts except the credentials.
    public internal(set) var rowChange: RowChange = .none

    /// Creates an unknown subject, or an initial record that the store then fills.
    public init(key: SubjectKey, isStored: Bool = false) {
        self.key = key
        self.isStored = isStored
        credentials = []
    }

    /// Creates an erased user's tombstone.
    public init(tombstoneOf key: SubjectKey, erasedAt moment: Moment) {
        self.init(key: key, isStored: true)
        isTombstone = true
        revocationOfAllApps = Revocation(moment: moment, reason: .erased, source: .erasure)
    }

    public var account: Account? {
        guard let accountID, let createdAt else { return nil }
        return account(accountID, createdAt: createdAt)
    }

    /// Creates the account from the record's facts.
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

    /// Returns the credential for an app, as callers see it, even if the app is unknown.
    public func credential(for clientID: ClientID) -> Credential {
        let own = credentials.first { $0.clientID == clientID }
        // Callers learn only about accounts of their own apps.
        return Credential(
            clientID: clientID, record: record(for: clientID), refreshToken: own?.refreshToken,
            disabledUntil: own == nil ? nil : disabling?.until)
    }

    /// Returns the effective facts for one app: the app's own facts, merged with the facts that apply to all
    /// apps.
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

/// Change that a store must write to a row at the end of a batch.
public enum RowChange: Sendable, Hashable {
    case none, update, insert
}

extension SubjectRecord {
    /// Marks the subject's row for writing. A subject without a row gets a new row.
    mutating func touchRow() {
        if rowChange == .none { rowChange = isStored ? .update : .insert }
    }

    /// Keeps the tombstone unchanged and starts a new row, because the user has returned.
    mutating func leaveTombstone() {
        guard isTombstone else { return }
        isTombstone = false
        isStored = false
        rowChange = .insert
    }

    /// The record as it will be loaded once its changes are saved; `nil`
    /// when the store then has no row for it, or only a tombstone.
    public var saved: SubjectRecord? {
        guard !isTombstone, isStored || rowChange == .insert else { return nil }
        var record = self
        record.isStored = true
        record.hasRowOfAllApps = hasRowOfAllApps || hasFactsOfAllApps
        record.rowChange = .none
        for index in record.credentials.indices { record.credentials[index].rowChange = .none }
        return record
    }

    /// Marks the row of an app's credential for writing, creating it if it is missing. Returns its index.
    mutating func touchCredential(of clientID: ClientID) -> Int {
        let (index, isPresent) = position(of: clientID)
        if isPresent {
            if credentials[index].rowChange == .none { credentials[index].rowChange = .update }
        } else {
            credentials.insert(AppCredential(clientID: clientID), at: index)
            credentials[index].rowChange = .insert
            // A credential row refers to the subject's row, so that row must exist.
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

/// A user's identity within one team. Accounts are keyed by it, never by an e-mail address.
public struct SubjectKey: Hashable, Sendable {
    public let team: TeamID
    public let subject: AppleSubject

    public init(team: TeamID, subject: AppleSubject) {
        (self.team, self.subject) = (team, subject)
    }
}

extension SubjectKey: Comparable {
    /// Defines the order in which stores acquire locks, so that two transactions cannot deadlock.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.team, lhs.subject) < (rhs.team, rhs.subject)
    }
}

extension SubjectKey {
    /// The name that replaces the `sub` after an erasure: U+0001, which no `sub` can contain, and the SHA-256
    /// of team, line feed and `sub`. The name can be computed from the `sub`, but does not reveal the `sub`.
    public var tombstoneName: String {
        let bytes = Array(team.rawValue.utf8) + [UInt8(ascii: "\n")] + Array(subject.rawValue.utf8)
        return "\u{1}" + Hexadecimal.encode(SHA256Digest.hash(bytes))
    }
}

/// Facts about one subject for one app. They change with every sign-in, so stores keep these rows narrow.
public struct AppCredential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    /// Facts for this app alone, without the facts that apply to all apps.
    public var record: CredentialRecord
    /// Time of the last sign-in, by our clock.
    public var lastSignInAt: Moment?
    /// Refresh token status; `nil` until the first code arrives.
    public var refreshToken: RefreshTokenStatus?
    /// Change that the store must write to this row.
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

/// Facts about a user that apply to all apps, including apps first seen later. Stores keep them in a row next
/// to the credentials, so that a state query finds them there.
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
    /// The facts to write when the subject's row has changed; `nil`
    /// when there are none and the store has no row for them.
    public var factsOfAllApps: FactsOfAllApps? {
        guard hasRowOfAllApps || hasFactsOfAllApps else { return nil }
        return FactsOfAllApps(
            revocation: revocationOfAllApps, disabling: disabling, sessionsEndedAt: sessionsEndedAt)
    }

    var hasFactsOfAllApps: Bool {
        revocationOfAllApps != nil || disabling != nil || sessionsEndedAt != nil
    }
}
