public import AppleAccounts

extension PostgresAccountStore {
    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await pool.run { try DisabledAccounts.accounts(until: moment, limit: limit, in: $0) }
    }
}
