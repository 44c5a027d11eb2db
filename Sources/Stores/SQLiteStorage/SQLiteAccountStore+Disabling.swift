public import AppleAccounts

extension SQLiteAccountStore {
    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await reader.read { try $0.tokens().disabled.accounts(until: moment, limit: limit) }
    }
}
