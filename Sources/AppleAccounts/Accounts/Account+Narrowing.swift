extension Account {
    /// Returns the account without the credentials for apps that the caller may not see. `nil` when none is
    /// left: for a caller that is limited to other apps the account does not exist.
    public func narrowed(to scope: AppScope) -> Account? {
        guard case .only = scope else { return self }
        guard scope.allowsAny(of: credentials.lazy.map(\.clientID)) else { return nil }
        var account = self
        account.credentials.removeAll { !scope.allows($0.clientID) }
        return account
    }
}
