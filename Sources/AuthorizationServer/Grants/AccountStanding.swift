public import AppleAccounts

/// What a decision about tokens needs to know of the person, read and locked in the transaction.
public struct AccountStanding: Sendable, Hashable {
    public let account: Account
    /// The credential for the grant's app, with what ended the credentials of all apps.
    public let credential: CredentialRecord

    public init(account: Account, credential: CredentialRecord) {
        (self.account, self.credential) = (account, credential)
    }

    /// Whether tokens are good. `false` also while Apple's rejection of a refresh token suspends them.
    public var isAuthorized: Bool { credential.state == .authorized }

    /// Whether what hangs on an authorization of that moment is good now: a later sign-in heals what was
    /// suspended, and not what a withdrawn consent has ended. The transaction that withdraws it removes the
    /// rows; this holds also while a replica of an earlier version, which knows no grants, is at work.
    public func admits(authorizedAt moment: Moment) -> Bool {
        guard isAuthorized else { return false }
        guard let revocation = credential.revocation, revocation.reason.grantEndReason != nil else {
            return true
        }
        return moment > revocation.moment
    }
}

/// What introspection and userinfo read, all of one moment. `nil` from a store means that the line has ended.
public struct TokenStanding: Sendable, Hashable {
    public let line: TokenLine
    public let grant: GrantRecord
    public let standing: AccountStanding

    public init(line: TokenLine, grant: GrantRecord, standing: AccountStanding) {
        (self.line, self.grant, self.standing) = (line, grant, standing)
    }

    /// Whether tokens of the line are good at a moment.
    public func isGood(at moment: Moment) -> Bool {
        standing.admits(authorizedAt: line.authorizedAt) && moment < line.expiresAt
    }
}
