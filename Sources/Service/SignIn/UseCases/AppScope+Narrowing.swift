import AppleAccounts

extension SignInOutcome {
    func narrowed(to scope: AppScope) -> SignInOutcome {
        // The account has the credential of the sign-in, whose app the caller may see.
        guard case .only = scope, let account = account.narrowed(to: scope) else { return self }
        return SignInOutcome(
            account: account, credential: credential, isNewAccount: isNewAccount,
            proofRefusal: proofRefusal)
    }
}

extension ErasureRecord {
    /// Returns the record without the apps, and their Apple tokens, that the caller may not see.
    func narrowed(to scope: AppScope) -> ErasureRecord {
        ErasureRecord(
            id: id, accountID: accountID, team: team, requestedAt: requestedAt, deadline: deadline,
            finishedAt: finishedAt, apps: apps.filter { scope.allows($0.clientID) },
            tokens: tokens.filter { scope.allows($0.primaryClientID) })
    }
}

extension Deployment {
    /// Returns the app to which a client ID of the caller belongs.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`.
    func app(named clientID: String, in scope: AppScope) throws -> App {
        guard let clientID = ClientID(clientID), let app = app(for: clientID) else { throw UnknownClientID() }
        guard scope.allows(app) else { throw CallerForbidden() }
        return app
    }
}
