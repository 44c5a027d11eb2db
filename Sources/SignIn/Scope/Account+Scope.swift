import AppleAccounts

extension Account {
    /// The account without the credentials for apps that the caller may not see. `nil` when none is left: to a caller
    /// who is limited to other apps the account does not exist.
    func narrowed(to scope: AppScope) -> Account? {
        guard case .only = scope else { return self }
        guard scope.allowsAny(of: credentials.lazy.map(\.clientID)) else { return nil }
        var account = self
        account.credentials.removeAll { !scope.allows($0.clientID) }
        return account
    }
}

extension SignInOutcome {
    func narrowed(to scope: AppScope) -> SignInOutcome {
        // It has the credential of the sign-in, whose app the caller may see.
        guard case .only = scope, let account = account.narrowed(to: scope) else { return self }
        return SignInOutcome(account: account, credential: credential, isNewAccount: isNewAccount)
    }
}
