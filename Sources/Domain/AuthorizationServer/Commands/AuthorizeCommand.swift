public import AppleAccounts
public import Cryptography

/// A user's consent. The command stores a code, and creates the grant if necessary.
public struct AuthorizeCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The ID for the grant, if the command has to create it.
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let codeDigest: SHA256Digest
    public let redirectURI: String
    public let challenge: CodeRecord.StoredChallenge?
    /// The code's scope, space-separated.
    public let scope: String
    public let nonce: String?
    public let authenticatedAt: Moment
    /// Earliest authentication time the client accepts; `nil` if it has no `max_authentication_age`.
    public let authenticatedAfter: Moment?
    public let moment: Moment
    public let expiresAt: Moment

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        codeDigest: SHA256Digest, redirectURI: String, challenge: CodeRecord.StoredChallenge?, scope: String,
        nonce: String?, authenticatedAt: Moment, authenticatedAfter: Moment? = nil,
        moment: Moment, expiresAt: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.codeDigest = codeDigest
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.scope = scope
        self.nonce = nonce
        self.authenticatedAt = authenticatedAt
        self.authenticatedAfter = authenticatedAfter
        self.moment = moment
        self.expiresAt = expiresAt
        self.origin = origin
    }
}

/// A native sign-in, which yields tokens without a code or a consent page (RFC 8693). The sign-in itself was
/// committed in an earlier transaction.
public struct TokenExchangeCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The ID for the grant, if the command has to create it.
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let scope: String
    public let authenticatedAt: Moment
    /// Earliest authentication time the client accepts; `nil` if it has no `max_authentication_age`.
    public let authenticatedAfter: Moment?
    public let newFamilyID: UniqueID
    public let refreshToken: NewRefreshToken
    /// Expiry time of the token family if its refresh token is never used.
    public let familyExpiresAt: Moment
    public let limits: FamilyLimits
    public let moment: Moment

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        scope: String, authenticatedAt: Moment, authenticatedAfter: Moment?, newFamilyID: UniqueID,
        refreshToken: NewRefreshToken, familyExpiresAt: Moment, limits: FamilyLimits, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.scope = scope
        self.authenticatedAt = authenticatedAt
        self.authenticatedAfter = authenticatedAfter
        self.newFamilyID = newFamilyID
        self.refreshToken = refreshToken
        self.familyExpiresAt = familyExpiresAt
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}

/// A command that creates or widens a grant because a user who signed in at Apple has agreed.
protocol AgreeingCommand {
    var accountID: AccountID { get }
    /// The ID for the grant, if the command has to create it.
    var newGrantID: GrantID { get }
    var oauthClientID: OAuthClientID { get }
    var clientID: ClientID { get }
    var scope: String { get }
    var authenticatedAt: Moment { get }
    var authenticatedAfter: Moment? { get }
    var moment: Moment { get }
}

extension AuthorizeCommand: AgreeingCommand {}

extension TokenExchangeCommand: AgreeingCommand {}

extension GrantWorkingSet {
    /// Maximum number of codes per grant, waiting or redeemed. Above the limit, the oldest code is deleted,
    /// so that a client cannot fill the database by sending a user through the authorization endpoint again
    /// and again.
    package static let mostCodes = 100

    /// Stores the code together with the grant, because the user agrees now, not when the code is redeemed.
    ///
    /// The credential is checked even if the user signed in only a moment ago.
    mutating func apply(
        _ command: AuthorizeCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord {
        let (authorization, grant) = try agree(by: command, using: &generator)
        let codes = ledger.grant(grant.id)?.codes ?? []
        let forgotten = Set(codes.dropLast(Self.mostCodes - 1).map(\.digest))
        ledger.removeCodes(of: grant.id) { forgotten.contains($0.digest) }
        ledger.put(
            CodeRecord(
                digest: command.codeDigest, grantID: grant.id, accountID: command.accountID,
                oauthClientID: command.oauthClientID, redirectURI: command.redirectURI,
                challenge: command.challenge, scope: command.scope, nonce: command.nonce,
                authenticatedAt: command.authenticatedAt, authorizedAt: authorization.moment,
                issuedAt: command.moment, expiresAt: command.expiresAt))
        return grant
    }

    /// Returns the app's authorization, if the user has signed in at Apple and may agree to a grant.
    ///
    /// - Parameter oldest: Earliest authentication time that the client accepts. `nil` means no limit.
    func authorization(
        of accountID: AccountID, for app: ClientID, authenticatedAt: Moment, after oldest: Moment?,
        at moment: Moment
    ) throws(GrantRefusal) -> Authorization {
        let user = try user(accountID)
        let status = try status(of: accountID, app: app, at: moment)
        let authorization = try status.credential.authorization(
            forAuthenticationAt: authenticatedAt, notBefore: oldest,
            isDeletedAtApple: user.record.revocationOfAllApps?.reason == .appleAccountDeleted)
        // The latest sign-out ended every session that began before it.
        guard status.admits(authenticatedAt: authenticatedAt) else { throw GrantRefusal(.credentialRevoked) }
        return authorization
    }

    /// Creates or widens the grant. The credential is checked even if the user signed in only a moment ago.
    mutating func agree(
        by command: some AgreeingCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> (Authorization, GrantRecord) {
        let authorization = try authorization(
            of: command.accountID, for: command.clientID, authenticatedAt: command.authenticatedAt,
            after: command.authenticatedAfter, at: command.moment)
        let grant = try agree(
            to: command.scope, of: command.oauthClientID, command.accountID, app: command.clientID,
            newGrantID: command.newGrantID, authorizedAt: authorization.moment, googleSubject: nil,
            at: command.moment, using: &generator)
        return (authorization, grant)
    }

    /// Creates the grant, or widens the existing grant. Changes nothing if it throws an error.
    mutating func agree(
        to scope: String, of client: OAuthClientID, _ accountID: AccountID, app: ClientID,
        newGrantID: GrantID, authorizedAt: Moment, googleSubject: String?, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord {
        guard var grant = ledger.grant(of: accountID, for: client)?.record else {
            try countNewGrant(of: accountID, to: client, at: moment)
            let grant = GrantRecord(
                id: newGrantID, accountID: accountID, oauthClientID: client, clientID: app, scope: scope,
                createdAt: moment, consentedAt: moment, authorizedAt: authorizedAt,
                googleSubject: googleSubject)
            ledger.put(grant)
            note(.grantCreated, of: grant, scope: scope, at: moment)
            tell(of: grant, at: moment, using: &generator)
            return grant
        }
        let oldScope = grant.scope
        grant.scope = Self.widened(grant.scope, by: scope)
        if grant.scope != oldScope { note(.grantWidened, of: grant, scope: grant.scope, at: moment) }
        grant.consentedAt = max(grant.consentedAt, moment)
        grant.authorizedAt = max(grant.authorizedAt, authorizedAt)
        grant.googleSubject = googleSubject ?? grant.googleSubject
        ledger.put(grant)
        return grant
    }

    /// Returns the union of both scopes. The union can exceed the limits of `ScopeSet` only after many
    /// configuration changes; then the result is the scope of the latest agreement.
    private static func widened(_ scope: String, by new: String) -> String {
        guard let old = ScopeSet(parsing: scope), let added = ScopeSet(parsing: new),
            let union = ScopeSet(parsing: old.union(added).text)
        else { return new }
        return union.text
    }
}

extension GrantWorkingSet {
    /// Issues tokens for a native sign-in. The client belongs to the app's developer, so the sign-in counts
    /// as consent.
    ///
    /// The credential is checked although the sign-in was committed only a moment ago, because a revocation
    /// or an erasure can happen between the two transactions.
    mutating func apply(
        _ command: TokenExchangeCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        try checkFamilyPace(of: command.accountID, to: command.oauthClientID, at: command.moment)
        let (authorization, grant) = try agree(by: command, using: &generator)
        let family = try begin(
            NewFamily(
                id: command.newFamilyID, scope: command.scope, isNative: true,
                refreshToken: command.refreshToken, authenticatedAt: command.authenticatedAt,
                authorizedAt: authorization.moment, expiresAt: command.familyExpiresAt, googleSubject: nil),
            of: grant, command.limits, at: command.moment, using: &generator)
        return IssuedTokens(
            grant: noteUse(of: grant, at: command.moment), family: family, scope: family.scope,
            account: try user(command.accountID).account, hasNewRefreshToken: true)
    }
}
