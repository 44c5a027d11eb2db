extension Account {
    /// Returns the account without the credentials for apps that the caller may not see, and without the sign-ins to
    /// these apps. `nil` when none is left: for a caller that is limited to other apps the account does not exist.
    public func narrowed(to scope: AppScope) -> Account? {
        guard case .only = scope else { return self }
        guard scope.allowsAny(of: credentials.lazy.map(\.clientID)) else { return nil }
        var account = self
        account.credentials.removeAll { !scope.allows($0.clientID) }
        account.lastSignInAt = account.credentials.lazy.compactMap(\.lastSignInAt).max()
        return account
    }
}
