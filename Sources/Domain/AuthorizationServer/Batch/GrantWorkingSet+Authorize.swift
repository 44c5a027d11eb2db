import AppleAccounts

extension GrantWorkingSet {
    /// Number of codes that a grant can have, waiting and redeemed; above it the oldest is forgotten. Bounds
    /// the rows that a client can cause by sending a user through the authorization endpoint again and again.
    package static let mostCodes = 100

    /// Writes the code, and the grant with it: the user agrees at this moment, not when the code is redeemed.
    ///
    /// The credential is checked here, however recently the user signed in.
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

    /// Returns the authorization of the app by a user who has signed in at Apple and may give a grant.
    ///
    /// - Parameter oldest: Earliest permitted authentication; `nil` without a bound.
    func authorization(
        of accountID: AccountID, for app: ClientID, authenticatedAt: Moment, after oldest: Moment?,
        at moment: Moment
    ) throws(GrantRefusal) -> Authorization {
        let user = try user(accountID)
        let status = try status(of: accountID, app: app, at: moment)
        let authorization = try status.credential.authorization(
            forAuthenticationAt: authenticatedAt, notBefore: oldest,
            isDeletedAtApple: user.record.revocationOfAllApps?.reason == .appleAccountDeleted)
        // A session from before the latest sign-out has ended with it.
        guard status.admits(authenticatedAt: authenticatedAt) else { throw GrantRefusal(.credentialRevoked) }
        return authorization
    }

    /// Checks the credential, however recently the user signed in, and makes or widens the grant.
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

    /// Makes the grant, or widens the existing grant. Nothing has changed when it throws.
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

    /// Returns the union of both scopes. Past the bounds of a set, which only many changes of the
    /// configuration can reach, returns the scope of the latest agreement.
    private static func widened(_ scope: String, by new: String) -> String {
        guard let old = ScopeSet(parsing: scope), let added = ScopeSet(parsing: new),
            let union = ScopeSet(parsing: old.union(added).text)
        else { return new }
        return union.text
    }
}
