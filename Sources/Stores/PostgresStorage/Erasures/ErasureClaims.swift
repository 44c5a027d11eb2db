import AppleAccounts
import SQLTables

/// Claims the Apple codes and tokens of erased accounts, as `AppleTokenClaims` does codes.
enum ErasureClaims {
    struct Claim {
        let any: TypedStatement<Moment, Int64, Moment>
        let ofErasure: TypedStatement<Moment, Int64, Moment, ErasureID>
        let token: ErasureTokenColumns
        let erasureID: Column<ErasureID>
        let erasure: ErasureTable
        let team: Column<TeamID>

        init() {
            var list = SelectList()
            token = ErasureTokenColumns(&list)
            erasureID = list.add("e.id AS erasure_id", ErasureID.self, as: "erasure_id")
            erasure = list.add(ErasureTable.self, as: "e", .only { [$0.accountID, $0.deadline] })
            team = list.add("team.name AS team", TeamID.self, as: "team")
            func claim(
                _ moment: Parameter<Moment>, _ limit: Parameter<Int64>, _ leaseEnd: Parameter<Moment>,
                among condition: String
            ) -> String {
                """
                WITH due AS MATERIALIZED (
                    SELECT \(list)
                    FROM erasure_token g JOIN client ON client.id = g.client_id JOIN app ON app.id = g.app_id
                        JOIN erasure e ON e.id = g.erasure_id JOIN team ON team.id = e.team_id
                    WHERE g.step < 4 AND g.next_attempt_at <= \(moment) AND \(condition)
                    ORDER BY g.next_attempt_at, g.id LIMIT \(limit)
                    FOR UPDATE OF g SKIP LOCKED
                ), claimed AS (
                    UPDATE erasure_token g
                    SET attempts = g.attempts + 1, next_attempt_at = \(leaseEnd), is_claimed = true
                    FROM due WHERE g.id = due.id
                )
                SELECT * FROM due ORDER BY next_attempt_at, id
                """
            }
            any = TypedStatement("claim_erasure_tokens") { claim($0, $1, $2, among: "true") }
            ofErasure = TypedStatement("claim_erasure_tokens_of") { moment, limit, leaseEnd, id in
                claim(moment, limit, leaseEnd, among: "g.erasure_id = \(id)")
            }
        }
    }

    static let claim = Claim()

    /// - Parameter id: Claims only entries of this erasure.
    static func tokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?, in session: PostgresSession
    ) throws -> [ClaimedErasureToken] {
        let limit = Int64(max(limit, 0))
        let call =
            id.map { claim.ofErasure(moment, limit, leaseUntil, $0) } ?? claim.any(moment, limit, leaseUntil)
        return try session.run(call).map { row in
            var token = try claim.token.token(row)
            let isInterrupted = token.isClaimed
            token.attempts += 1
            token.nextAttemptAt = leaseUntil
            token.isClaimed = true
            return ClaimedErasureToken(
                erasureID: try row.required(claim.erasureID),
                accountID: try row.required(claim.erasure.accountID), team: try row.required(claim.team),
                deadline: try row.required(claim.erasure.deadline), token: token, isInterrupted: isInterrupted
            )
        }
    }
}
