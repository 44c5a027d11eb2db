import AppleAccounts

/// Says when there is work next: the fronts of three indexes.
enum DueRows {
    private static let find = PostgresStatement(
        "due",
        """
        SELECT (SELECT min(next_attempt_at) FROM authorization_code),
            (SELECT min(next_check_at) FROM refresh_token),
            (SELECT min(next_attempt_at) FROM erasure_grant WHERE step < 4)
        """)

    static func find(in session: PostgresSession) throws -> GrantsDue {
        let rows = try session.run(PostgresCall(find))
        guard rows.count == 1 else { return GrantsDue() }
        return GrantsDue(code: rows.moment(0, 0), check: rows.moment(0, 1), erasure: rows.moment(0, 2))
    }
}
