public import AppAttestation
public import AppleAccounts

extension PostgresAccountStore: AppAttestStore {
    private static let purgeKeys = TypedStatement<Moment, Int64>("purge_attested_keys") { end, limit in
        """
        WITH gone AS (
            DELETE FROM app_attest_key WHERE key_id IN (
                SELECT key_id FROM app_attest_key WHERE used_at < \(end) ORDER BY used_at LIMIT \(limit)
                FOR UPDATE SKIP LOCKED)
            RETURNING app_id),
        numbers AS (SELECT app_id, count(*) AS number FROM gone GROUP BY app_id),
        counted AS (
            UPDATE app_attest_count AS c SET key_count = c.key_count - n.number FROM numbers AS n
            WHERE c.app_id = n.app_id)
        SELECT count(*) FROM gone
        """
    }

    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        try await pool.run { try AttestedKeyRows.find(id, in: $0) }
    }

    public func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int {
        let call = Self.purgeKeys(moment, Int64(Self.largestPurge))
        return try await pool.run { session in
            // A registration locks the number and then the keys; a purge the other way round.
            try session.repeatingConflicts {
                Int(try session.run(call).onlyValue(as: Int64.self) ?? 0)
            }
        }
    }
}
