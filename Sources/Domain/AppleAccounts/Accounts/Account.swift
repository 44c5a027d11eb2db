// AppleAccounts owns the account model: users with an account, the state of their Apple credentials, and the
// effect of every command on them. It does no I/O, reads no clock, and knows nothing about HTTP or
// databases. It also owns the protocols that stores implement, and the JSON and security event token
// encodings of outgoing events.

/// A user within one team, as callers see the account. Unknown values are `nil`, never empty.
public struct Account: Sendable, Hashable {
    public var id: AccountID
    public var team: TeamID
    public var subject: AppleSubject
    /// The address that Apple signed most recently; before Apple has signed one, the unsigned address that
    /// the app posted at the first sign-in.
    public var email: String?
    /// Always `false` for an unsigned address.
    public var isEmailVerified: Bool?
    /// True for a relay address; `nil` if the address is unsigned, or if Apple's claim and the domain do not
    /// determine it.
    public var isPrivateEmail: Bool?
    public var emailForwarding: EmailForwarding
    public var profile: Profile
    /// The highest value that Apple ever sent (0 unsupported, 1 unknown, 2 likely real). A real user's later
    /// sign-ins send "unknown" again, so the last value would be wrong.
    public var realUserStatus: Int64?
    /// The current disabled period; `nil` unless this service has disabled the account.
    public var disabling: Disabling?
    /// Time of the user's last sign-out everywhere, by our clock.
    public var sessionsEndedAt: Moment?
    public var createdAt: Moment
    /// Time of the last sign-in to any app, by our clock.
    public var lastSignInAt: Moment?
    /// Credentials for all known apps, sorted by the bytes of the primary client ID.
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
    /// Returns the account without the credentials for apps that the caller may not see, and without the
    /// times of sign-ins to those apps. Returns `nil` when no credential remains: to a caller limited to
    /// other apps, the account does not exist.
    public func narrowed(to scope: AppScope) -> Account? {
        guard case .only = scope else { return self }
        guard scope.allowsAny(of: credentials.lazy.map(\.clientID)) else { return nil }
        var account = self
        account.credentials.removeAll { !scope.allows($0.clientID) }
        account.lastSignInAt = account.credentials.lazy.compactMap(\.lastSignInAt).max()
        return account
    }
}

/// The authorization of one app by an account's user, as callers see it.
public struct Credential: Sendable, Hashable {
    /// The app's primary client ID.
    public let clientID: ClientID
    public let state: CredentialState
    public let reason: CredentialReason?
    public let source: CredentialSource?
    /// Time of the fact that determines the state.
    public let since: Moment?
    /// Time of the last sign-in, by our clock. Known only for credentials within an account.
    public internal(set) var lastSignInAt: Moment?
    /// The refresh token status; `nil` until the first code arrives.
    public let refreshToken: RefreshTokenStatus?
    /// Time until which the account is disabled; `nil` if it is enabled. Independent of the state at Apple.
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

/// State of Apple's mail forwarding from the user's relay address.
public enum EmailForwarding: String, Sendable, Hashable, CaseIterable {
    case enabled
    case disabled
    /// No forwarding notification has arrived yet.
    case unknown
}

extension EmailForwarding: Comparable {
    /// Breaks ties between equal moments. `disabled` wins, because mail that is not sent cannot bounce.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .enabled: 1
        case .disabled: 2
        }
    }
}
