public import AppleAccounts

/// Statements that find accounts whose disabled period is over, through an index of disabled accounts; for
/// both databases.
private enum DisabledAccountStatements {
    // A CROSS JOIN keeps SQLite from reordering the tables.
    static let find = SQLStatement<(account: Column<AccountID>, user: UserColumns), Moment, Int64>(
        "find_disabled"
    ) {
        ($0.add("s.account_id", AccountID.self, as: "account_id"), UserColumns(&$0))
    } sql: { _, list, end, limit in
        """
        SELECT \(list)
        FROM (
            SELECT subject_id, disabled_until FROM credential
            WHERE disabled_until IS NOT NULL AND disabled_until <= \(end)
            ORDER BY disabled_until LIMIT \(limit)) AS c
        CROSS JOIN subject s WHERE s.id = c.subject_id AND s.account_id IS NOT NULL
        ORDER BY c.disabled_until
        """
    }
}

extension AccountStore where Self: SQLStore {
    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        let (find, columns) = (DisabledAccountStatements.find, DisabledAccountStatements.find.columns)
        return try await snapshot { session in
            try session.rows(find(moment, Int64(limit))) {
                DisabledAccount(
                    accountID: try $0.required(columns.account), key: try columns.user.key($0))
            }
        }
    }
}
