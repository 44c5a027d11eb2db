// AppleAccounts owns the accounts: the users with an account, the state of Apple's credentials, and
// the effect of every command on them. It does no I/O, reads no clock, and knows no HTTP or
// databases. It owns the protocols that stores implement, and the encodings of events that leave
// the service: JSON and security event tokens.

/// One user of one team, as callers see the account. Unknown values are `nil`, never empty.
public struct Account: Sendable, Hashable {
    public var id: AccountID
    public var team: TeamID
    public var subject: AppleSubject
    /// The address that Apple signed last, else the unsigned address
    /// that the app posted at the first sign-in.
    public var email: String?
    /// Always `false` for an unsigned address.
    public var isEmailVerified: Bool?
    /// True for a relay address; `nil` when unknown: for an unsigned address, and when
    /// neither Apple's claim nor the domain decides.
    public var isPrivateEmail: Bool?
    public var emailForwarding: EmailForwarding
    public var profile: Profile
    /// Highest value that Apple ever sent (0 unsupported, 1 unknown, 2 likely real): later
    /// sign-ins of a real user send "unknown" again.
    public var realUserStatus: Int64?
    /// The disabling; `nil` unless the account is disabled here.
    public var disabling: Disabling?
    /// Time at which the user was last signed out everywhere, by our clock.
    public var sessionsEndedAt: Moment?
    public var createdAt: Moment
    /// Time of the last sign-in to any of the apps, by our clock.
    public var lastSignInAt: Moment?
    /// Credentials of every known app, sorted by the bytes of the primary client ID.
    public var credentials: [Credential]

    public init(
        id: AccountID, team: TeamID, subject: AppleSubject, email: String? = nil,
        isEmailVerified: Bool? = nil,
        isPrivateEmail: Bool? = nil, emailForwarding: EmailForwarding = .unknown,
        profile: Profile = Profile(), realUserStatus: Int64? = nil,
        disabling: Disabling? = nil, sessionsEndedAt: Moment? = nil, createdAt: Moment,
        lastSignInAt: Moment? = nil, credentials: [Credential] = []
    ) {
        self.id = id
        self.team = team
        self.subject = subject
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.isPrivateEmail = isPrivateEmail
        self.emailForwarding = emailForwarding
        self.profile = profile
        self.realUserStatus = realUserStatus
        self.disabling = disabling
        self.sessionsEndedAt = sessionsEndedAt
        self.createdAt = createdAt
        self.lastSignInAt = lastSignInAt
        self.credentials = credentials
    }
}

extension Account {
    /// Returns the account without the credentials for apps that the caller may not see, and
    /// without the sign-ins to these apps. `nil` when no credential remains: for a caller that is
    /// limited to other apps the account does not exist.
    public func narrowed(to scope: AppScope) -> Account? {
        guard case .only = scope else { return self }
        guard scope.allowsAny(of: credentials.lazy.map(\.clientID)) else { return nil }
        var account = self
        account.credentials.removeAll { !scope.allows($0.clientID) }
        account.lastSignInAt = account.credentials.lazy.compactMap(\.lastSignInAt).max()
        return account
    }
}

/// One account's authorization of one app, as callers see it.
public struct Credential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    public let state: CredentialState
    public let reason: CredentialReason?
    public let source: CredentialSource?
    /// The moment of the fact that decides the state.
    public let since: Moment?
    /// Time of the last sign-in, by our clock. Known only for credentials of an account.
    public internal(set) var lastSignInAt: Moment?
    /// The status of the refresh token; `nil` until the first code.
    public let refreshToken: RefreshTokenStatus?
    /// Time until which the account is disabled; `nil` if it is enabled. Independent of Apple's state.
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

/// State of Apple's forwarding of mail to the user's relay address.
public enum EmailForwarding: String, Sendable, Hashable, CaseIterable {
    case enabled
    case disabled
    /// No notification about forwarding has arrived yet.
    case unknown
}

extension EmailForwarding: Comparable {
    /// Breaks ties between equal moments: `disabled` stays, because mail that is not sent cannot bounce.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .enabled: 1
        case .disabled: 2
        }
    }
}
