// AppleAccounts owns the accounts: the users that have one, the state of Apple's credentials, and the effect
// of every command on them. It does no I/O, reads no clock, and knows no tokens, HTTP or databases. It owns
// the protocols that stores implement.

/// One user of one team, as callers see the account. Unknown values are `nil`, never empty.
public struct Account: Sendable, Hashable {
    public var id: AccountID
    public var team: TeamID
    public var subject: AppleSubject
    /// The address that Apple signed last, else the unsigned one that the app posted at the first sign-in.
    public var email: String?
    /// Always `false` for an unsigned address.
    public var isEmailVerified: Bool?
    /// `nil` when unknown: for an unsigned address, and when neither Apple's claim nor the domain decides.
    public var isPrivateEmail: Bool?
    public var emailForwarding: EmailForwarding
    public var profile: Profile
    /// Highest value that Apple ever sent (0 unsupported, 1 unknown, 2 likely real): later sign-ins of a real
    /// user say "unknown" again.
    public var realUserStatus: Int64?
    /// `nil` unless the account is disabled here.
    public var disabling: Disabling?
    /// Time at which the user was last signed out everywhere, by our clock.
    public var sessionsEndedAt: Moment?
    public var createdAt: Moment
    /// To any of the apps, by our clock.
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
