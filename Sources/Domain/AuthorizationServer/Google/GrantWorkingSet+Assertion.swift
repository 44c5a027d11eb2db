import AppleAccounts

extension GrantWorkingSet {
    /// Issues tokens when Google states that an account of ours and a Google account belong to the same user
    /// (streamlined linking, intent `get`). The user agreed at Google.
    mutating func apply(
        _ command: AssertionCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard !isDisabled(googleSubject: command.googleSubject, since: command.assertedAt) else {
            throw GrantRefusal(.googleAccountDisabled)
        }
        let user = try user(command.accountID)
        guard
            isMatched(
                command.googleSubject, command.match, command.accountID, user.record,
                of: command.oauthClientID)
        else { throw GrantRefusal(.accountNotMatched) }
        let status = try status(of: command.accountID, app: command.clientID, at: command.moment)
        guard status.isAuthorized, let authorization = status.credential.authorization else {
            throw GrantRefusal(.credentialRevoked)
        }
        try checkFamilyPace(of: command.accountID, to: command.oauthClientID, at: command.moment)
        let grant = try agree(
            to: command.scope, of: command.oauthClientID, command.accountID, app: command.clientID,
            newGrantID: command.newGrantID, authorizedAt: authorization.moment,
            googleSubject: command.googleSubject, at: command.moment, using: &generator)
        learn(googleSubject: command.googleSubject, of: grant.id)
        let family = try begin(
            NewFamily(
                id: command.newFamilyID, scope: command.scope, isNative: false,
                refreshToken: command.refreshToken,
                // Google's clock may be ahead. A later event must still find the token family to be older.
                authenticatedAt: min(command.assertedAt, command.moment),
                authorizedAt: authorization.moment, expiresAt: .last,
                googleSubject: command.googleSubject),
            of: grant, command.limits, at: command.moment, using: &generator)
        return IssuedTokens(
            grant: noteUse(of: grant, at: command.moment), family: family, scope: family.scope,
            account: status.account,
            hasNewRefreshToken: true)
    }
}
