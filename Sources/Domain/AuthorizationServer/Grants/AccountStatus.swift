public import AppleAccounts

/// The account's status for decisions about tokens, read and locked in the transaction.
public struct AccountStatus: Sendable, Hashable {
    public let account: Account
    /// The credential for the grant's app, including revocations that ended the credentials of all apps.
    public let credential: CredentialRecord

    public init(account: Account, credential: CredentialRecord) {
        (self.account, self.credential) = (account, credential)
    }

    /// True if the credential is authorized. False also while Apple's
    /// rejection of a refresh token suspends tokens.
    public var isAuthorized: Bool { credential.state == .authorized }

    /// Returns true while the app's operator has disabled the account, which suspends tokens too.
    public func isDisabled(at now: Moment) -> Bool { account.isDisabled(at: now) }

    /// Returns true if a session or a statement of an authentication at `moment` is still valid: the
    /// credential was not revoked, and the user was not signed out, since then.
    public func admits(authenticatedAt moment: Moment) -> Bool {
        credential.admits(authorizationAt: moment) && account.sessionsEndedAt.map { moment > $0 } ?? true
    }

    /// Returns true if tokens of an authorization at `moment` are valid now. A later sign-in ends a
    /// suspension, but does not restore tokens that a withdrawn consent has ended. The transaction that
    /// stores the withdrawal also removes their rows; this check does not depend on the removal.
    public func admits(authorizedAt moment: Moment, at now: Moment) -> Bool {
        guard isAuthorized, !isDisabled(at: now) else { return false }
        guard let revocation = credential.revocation, revocation.reason.grantEndReason != nil else {
            return true
        }
        return moment > revocation.moment
    }
}

/// The status that introspection and userinfo read, all from the same moment. A store
/// returns `nil` when the token family has ended.
public struct TokenStatus: Sendable, Hashable {
    public let family: TokenFamily
    public let grant: GrantRecord
    public let status: AccountStatus

    public init(family: TokenFamily, grant: GrantRecord, status: AccountStatus) {
        (self.family, self.grant, self.status) = (family, grant, status)
    }

    /// Returns true if tokens of the token family are valid at a moment.
    public func isGood(at moment: Moment) -> Bool {
        status.admits(authorizedAt: family.authorizedAt, at: moment) && moment < family.expiresAt
    }
}
