import AppleAccounts

/// Hands out the grants of erased accounts, as `GrantClaims` does codes.
enum ErasureClaims {
    private static let claimAny = PostgresStatement("claim_grants", claim(among: "true"))
    private static let claimOf = PostgresStatement(
        "claim_grants_of", claim(among: "g.erasure_id = $4::uuid"))

    private static func claim(among condition: String) -> String {
        """
        WITH due AS MATERIALIZED (
            SELECT \(ErasureRows.grantColumns), e.id AS erasure_id, e.account_id, team.name AS team,
                e.deadline
            FROM erasure_grant g JOIN client ON client.id = g.client_id JOIN app ON app.id = g.app_id
                JOIN erasure e ON e.id = g.erasure_id JOIN team ON team.id = e.team_id
            WHERE g.step < 4 AND g.next_attempt_at <= $1::bigint AND \(condition)
            ORDER BY g.next_attempt_at, g.id LIMIT $2::bigint
            FOR UPDATE OF g SKIP LOCKED
        ), claimed AS (
            UPDATE erasure_grant g
            SET attempts = g.attempts + 1, next_attempt_at = $3::bigint, is_claimed = true
            FROM due WHERE g.id = due.id
        )
        SELECT * FROM due ORDER BY next_attempt_at, id
        """
    }

    /// - Parameter id: Only the grants of this erasure.
    static func grants(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?, in session: PostgresSession
    ) throws -> [ClaimedErasureGrant] {
        let values: [PostgresValue] = [
            .moment(moment), .integer(Int64(max(limit, 0))), .moment(leaseUntil),
        ]
        let call =
            id.map { PostgresCall(claimOf, values + [.uuid($0.uniqueID)]) } ?? PostgresCall(claimAny, values)
        let rows = try session.run(call)
        return try (0..<rows.count).map { row in
            var grant = try ErasureRows.grant(rows, row)
            let isInterrupted = grant.isClaimed
            grant.attempts += 1
            grant.nextAttemptAt = leaseUntil
            grant.isClaimed = true
            guard let erasure = rows.uuid(row, 13), let account = rows.uuid(row, 14),
                let team = rows.text(row, 15).flatMap({ TeamID($0) }), let deadline = rows.moment(row, 16)
            else { throw StorageError(.corrupted, detail: "an erasure lacks something") }
            return ClaimedErasureGrant(
                erasureID: ErasureID(erasure), accountID: AccountID(account), team: team, deadline: deadline,
                grant: grant, isInterrupted: isInterrupted)
        }
    }
}
