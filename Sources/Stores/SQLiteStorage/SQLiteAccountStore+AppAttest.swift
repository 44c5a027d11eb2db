public import AppAttestation
public import AppleAccounts
import GRDB

extension SQLiteAccountStore: AppAttestStore {
    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        try await read { try $0.attestedKeys().find(id) }
    }

    public func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord? {
        readWithoutWaiting { try $0.attestedKeys().find(id) } ?? nil
    }

    public func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int {
        let chosen = """
            SELECT key_id FROM app_attest_key WHERE used_at < :end ORDER BY used_at, key_id LIMIT :limit
            """
        let arguments: StatementArguments = ["end": moment.milliseconds, "limit": Self.largestPurge]
        return try await writer.run { database in
            var count = 0
            try database.inTransaction(.immediate) {
                // Before the keys are gone.
                try database.execute(
                    sql: """
                        UPDATE app_attest_count SET key_count = key_count - gone.number
                        FROM (SELECT app_id, count(*) AS number FROM app_attest_key
                            WHERE key_id IN (\(chosen)) GROUP BY app_id) AS gone
                        WHERE app_attest_count.app_id = gone.app_id
                        """, arguments: arguments)
                try database.execute(
                    sql: "DELETE FROM app_attest_key WHERE key_id IN (\(chosen))", arguments: arguments)
                count = database.changesCount
                return .commit
            }
            return count
        }
    }
}
