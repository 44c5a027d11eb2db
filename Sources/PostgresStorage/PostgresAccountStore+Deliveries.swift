public import AppleAccounts
public import AuthorizationServer
import SQLTables

// Deliveries to Google, and the keys that sign them and all tokens.
extension PostgresAccountStore {
    private struct Claim {
        let statement: TypedStatement<Moment, Int64, Moment>
        let columns: SecurityEventDeliveryTable

        init() {
            var list = SelectList()
            columns = list.add(SecurityEventDeliveryTable.self)
            // The statement returns the rows before the update, in the order in which they waited.
            statement = TypedStatement("claim_deliveries") { moment, limit, leaseEnd in
                """
                WITH due AS MATERIALIZED (
                    SELECT \(list) FROM security_event_delivery WHERE next_attempt_at <= \(moment)
                    ORDER BY next_attempt_at, id LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ), claimed AS (
                    UPDATE security_event_delivery d
                    SET attempts = d.attempts + 1, next_attempt_at = \(leaseEnd)
                    FROM due WHERE d.id = due.id
                )
                SELECT \(list) FROM due ORDER BY next_attempt_at, id
                """
            }
        }
    }

    private static let claim = Claim()
    private static let postpone = TypedStatement<UniqueID, Moment>("postpone_delivery") { id, time in
        "UPDATE security_event_delivery SET next_attempt_at = \(time) WHERE id = \(id)"
    }
    private static let remove = TypedStatement<UniqueID>("remove_delivery") {
        "DELETE FROM security_event_delivery WHERE id = \($0)"
    }
    private static let findDue = PostgresCall(
        PostgresStatement(
            "deliveries_due", "SELECT min(next_attempt_at) FROM security_event_delivery"))

    public func claimDeliveries(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [SecurityEventDelivery] {
        try await pool.run { session in
            try session.run(Self.claim.statement(moment, Int64(max(limit, 0)), leaseUntil)).map { row in
                var delivery = try Self.claim.columns.delivery(row)
                delivery.attempts += 1
                delivery.nextAttemptAt = leaseUntil
                return delivery
            }
        }
    }

    public func postponeDelivery(_ id: UniqueID, until nextAttemptAt: Moment) async throws {
        try await pool.run { _ = try $0.run(Self.postpone(id, nextAttemptAt)) }
    }

    public func removeDelivery(_ id: UniqueID) async throws {
        try await pool.run { _ = try $0.run(Self.remove(id)) }
    }

    public func nextDeliveryDue() async throws -> Moment? {
        try await pool.run { try $0.run(Self.findDue).onlyValue(as: Moment.self) }
    }

    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await pool.run { try SigningKeyRows.all(in: $0) }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        try await pool.run { session in
            try SigningKeyRows.offer(key, unlessMadeAfter: moment, in: session)
            return try SigningKeyRows.all(in: session)
        }
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await pool.run { try SigningKeyRows.replaceSealed(key, with: sealed, in: $0) }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await pool.run { try SigningKeyRows.remove(retiredBefore: moment, in: $0) }
    }
}
