// AppleAccounts owns the accounts: which persons have one, what Apple's credentials are worth, and what every
// command does to them. It does no I/O, reads no clock, and knows neither tokens nor HTTP nor databases; the
// role of a store is its own.

/// One person of one team, as callers see them. What is not known is `nil`, never empty.
public struct Account: Sendable, Hashable {
    public var id: AccountID
    public var team: TeamID
    public var subject: AppleSubject
    /// The address that Apple signed last, else the unsigned one that the app posted at the first sign-in.
    public var email: String?
    /// Always `false` for an unsigned address.
    public var isEmailVerified: Bool?
    /// `nil` when nothing is known: for an unsigned address, and where neither Apple's claim nor its domain
    /// said.
    public var isPrivateEmail: Bool?
    public var emailForwarding: EmailForwarding
    public var profile: Profile
    /// The highest that Apple ever said (0 unsupported, 1 unknown, 2 likely real): later sign-ins of a real
    /// person say "unknown" again.
    public var realUserStatus: Int64?
    public var createdAt: Moment
    public var lastSignInAt: Moment?
    /// One for each app that anything is known for, in the order of the primary client IDs' bytes.
    public var credentials: [Credential]

    public init(
        id: AccountID, team: TeamID, subject: AppleSubject, email: String? = nil,
        isEmailVerified: Bool? = nil,
        isPrivateEmail: Bool? = nil, emailForwarding: EmailForwarding = .unknown,
        profile: Profile = Profile(), realUserStatus: Int64? = nil, createdAt: Moment,
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
        self.createdAt = createdAt
        self.lastSignInAt = lastSignInAt
        self.credentials = credentials
    }
}
