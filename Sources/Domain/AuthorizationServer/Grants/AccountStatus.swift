public import AppleAccounts

/// The account's status, for decisions about tokens. A store reads and locks it in the transaction.
public struct AccountStatus: Sendable, Hashable {
    public let account: Account
    /// The credential for the grant's app. It reflects revocations that ended the credentials of all apps.
    public let credential: CredentialRecord

    public init(account: Account, credential: CredentialRecord) {
        (self.account, self.credential) = (account, credential)
    }

    /// True if the credential is authorized. Also false while tokens are suspended because Apple has rejected
    /// a refresh token.
    public var isAuthorized: Bool { credential.state == .authorized }

    /// Returns true if the app's operator has disabled the account, which also suspends its tokens.
    public func isDisabled(at now: Moment) -> Bool { account.isDisabled(at: now) }

    /// Returns true if a session that began at `moment`, or an authentication that is claimed for `moment`,
    /// is still valid: the credential has not been revoked since, and the user has not been signed out.
    public func admits(authenticatedAt moment: Moment) -> Bool {
        credential.admits(authorizationAt: moment) && account.sessionsEndedAt.map { moment > $0 } ?? true
    }

    /// Returns true if tokens that were authorized at `moment` are valid now. A later sign-in ends a
    /// suspension, but does not restore tokens that ended because the user withdrew consent. The transaction
    /// that stores the withdrawal also deletes their rows, but this check does not rely on that.
    public func admits(authorizedAt moment: Moment, at now: Moment) -> Bool {
        guard isAuthorized, !isDisabled(at: now) else { return false }
        guard let revocation = credential.revocation, revocation.reason.grantEndReason != nil else {
            return true
        }
        return moment > revocation.moment
    }
}

/// The status that introspection and userinfo read. All of its facts are from the same moment. A store
/// returns `nil` instead if the token family has ended.
public struct TokenStatus: Sendable, Hashable {
    public let family: TokenFamily
    public let grant: GrantRecord
    public let status: AccountStatus

    public init(family: TokenFamily, grant: GrantRecord, status: AccountStatus) {
        (self.family, self.grant, self.status) = (family, grant, status)
    }

    /// Returns true if the token family's tokens are valid at a moment.
    public func isGood(at moment: Moment) -> Bool {
        status.admits(authorizedAt: family.authorizedAt, at: moment) && moment < family.expiresAt
    }
}
