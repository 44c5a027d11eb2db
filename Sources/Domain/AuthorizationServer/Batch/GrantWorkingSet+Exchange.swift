import AppleAccounts

extension GrantWorkingSet {
    /// Issues tokens for a native sign-in. The client is the app's own, so the sign-in is the consent.
    ///
    /// The credential is checked here, although the sign-in was committed a moment ago: a revocation, or an
    /// erasure, can lie between the two transactions.
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
