import AppleAccounts

/// Hands out codes and checks. Each claim is one statement and its own transaction, which skips what another
/// claimer holds: two of them, in whatever processes, never get the same, and none waits for another.
///
/// Nobody's claims are ended when a process starts: they may be those of another replica. They end by
/// themselves.
enum GrantClaims {
    // What is returned is the rows as they were before: it shows whether an earlier claim was cut off.
    private static let claimCodes = PostgresStatement(
        "claim_codes",
        """
        WITH due AS MATERIALIZED (
            SELECT \(GrantRows.codeColumns), team.name AS team, s.sub
            FROM authorization_code c JOIN client ON client.id = c.client_id JOIN app ON app.id = c.app_id
                JOIN subject s ON s.account_id = c.account_id JOIN team ON team.id = s.team_id
            WHERE c.next_attempt_at <= $1::bigint ORDER BY c.next_attempt_at, c.id LIMIT $2::bigint
            FOR UPDATE OF c SKIP LOCKED
        ), claimed AS (
            UPDATE authorization_code c
            SET attempts = c.attempts + 1, next_attempt_at = $3::bigint, is_claimed = true
            FROM due WHERE c.id = due.id
        )
        SELECT * FROM due ORDER BY next_attempt_at, id
        """)
    // Without jitter, whoever signed in at the same time would be asked about at the same time for ever.
    private static let claimChecks = PostgresStatement(
        "claim_checks",
        """
        WITH due AS MATERIALIZED (
            SELECT \(GrantRows.tokenColumns), team.name AS team, s.sub, t.client_id
            FROM refresh_token t JOIN client ON client.id = t.client_id JOIN app ON app.id = t.app_id
                JOIN subject s ON s.account_id = t.account_id JOIN team ON team.id = s.team_id
            WHERE t.next_check_at <= $1::bigint ORDER BY t.next_check_at, t.account_id LIMIT $2::bigint
            FOR UPDATE OF t SKIP LOCKED
        ), moved AS (
            UPDATE refresh_token t
            SET next_check_at = least($3::bigint + floor(random() * $4::bigint)::bigint, $5::bigint)
            FROM due WHERE t.account_id = due.account_id AND t.client_id = due.client_id
        )
        SELECT * FROM due ORDER BY next_check_at, account_id
        """)
    private static let releaseCode = PostgresStatement(
        "release_code",
        """
        UPDATE authorization_code SET next_attempt_at = $2::bigint, is_claimed = false WHERE id = $1::uuid
        """)
    private static let releaseCheck = PostgresStatement(
        "release_check",
        """
        UPDATE refresh_token SET next_check_at = $3::bigint
        WHERE account_id = $1::uuid AND token_id = $2::uuid
        """)

    static func codes(
        limit: Int, at moment: Moment, leaseUntil: Moment, in session: PostgresSession
    ) throws -> [ClaimedCode] {
        let rows = try session.run(
            PostgresCall(
                claimCodes,
                [
                    .integer(moment.milliseconds), .integer(Int64(max(limit, 0))),
                    .integer(leaseUntil.milliseconds),
                ]))
        return try (0..<rows.count).map { row in
            let code = try GrantRows.code(rows, row)
            var claimed = code
            claimed.attempts += 1
            claimed.nextAttemptAt = leaseUntil
            claimed.isClaimed = true
            return ClaimedCode(
                record: claimed, key: try GrantRows.key(rows, row, at: 11), isInterrupted: code.isClaimed)
        }
    }

    static func checks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        in session: PostgresSession
    ) throws -> [ClaimedCheck] {
        let rows = try session.run(
            PostgresCall(
                claimChecks,
                [
                    .integer(moment.milliseconds), .integer(Int64(max(limit, 0))),
                    .integer(nextAfter.milliseconds), .integer(max(jitterMilliseconds, 1)),
                    .integer(Moment.last.milliseconds),
                ]))
        return try (0..<rows.count).map { row in
            ClaimedCheck(try GrantRows.token(rows, row), key: try GrantRows.key(rows, row, at: 7))
        }
    }

    static func releaseCode(_ id: UniqueID, until moment: Moment) -> PostgresCall {
        PostgresCall(releaseCode, [.uuid(id), .integer(moment.milliseconds)])
    }

    static func releaseCheck(_ check: ClaimedCheck, until moment: Moment) -> PostgresCall {
        PostgresCall(
            releaseCheck,
            [
                .uuid(check.accountID.uniqueID), .uuid(check.tokenID), .integer(moment.milliseconds),
            ])
    }
}
