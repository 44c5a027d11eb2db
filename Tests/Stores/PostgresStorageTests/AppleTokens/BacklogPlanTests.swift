import AppleAccounts
import Foundation
import StorageConformance
import Testing

@testable import PostgresStorage

/// Numbers about due work among many tokens, with `SIWA_TEST_PEOPLE=1000000` among a million: the monitor reads
/// them every 15 seconds.
@Suite struct BacklogPlanTests {
    @Test func `counts due work along indexes`() async throws {
        let count = min(SearchTrial.people(ProcessInfo.processInfo.environment), 1_000_000)
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store, count)
            try await store.pool.run { session in
                let sql = AppleTokenClaims.countDue.statement.statement.sql
                let statements = [
                    "PREPARE backlog AS \(sql)", "SET plan_cache_mode = force_generic_plan",
                    "EXPLAIN EXECUTE backlog(1)",
                ]
                var lines: [String] = []
                for (number, sql) in statements.enumerated() {
                    let rows = try session.run(PostgresCall(PostgresStatement("backlog_plan_\(number)", sql)))
                    lines = (0..<rows.count).compactMap { rows.text($0, 0) }
                }
                #expect(!lines.contains { $0.contains("Sort") }, "\(lines)")
                for table in ["refresh_token", "erasure", "erasure_token"] {
                    #expect(!lines.contains { $0.contains("Seq Scan on \(table)") }, "\(lines)")
                }
            }
            let clock = ContinuousClock()
            let begun = clock.now
            let backlog = try await store.backlog(at: 1000)
            if count > 100_000 { print("PostgreSQL, backlog among \(count) tokens: \(clock.now - begun)") }
            let failed = min(1 + Int64(count / 100), AppleTokensBacklog.most)
            #expect(backlog.checks == AppleTokensBacklog.Queue(count: failed, since: 7))
            #expect(backlog.erasures == AppleTokensBacklog.Queue(count: 0, since: 3))
        }
    }

    /// Checks in the future, of which one of a hundred has failed, one check that is due, and finished erasures
    /// but for one.
    private static func fill(_ store: PostgresAccountStore, _ count: Int) async throws {
        let statements = [
            "SET statement_timeout = 0",
            "INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5')",
            "INSERT INTO app (id, name) VALUES (1, 'com.example.a')",
            "INSERT INTO client (id, name) VALUES (1, 'com.example.a')",
            """
            INSERT INTO refresh_token (account_id, client_id, app_id, token_id, sealed, authorized_at,
                next_check_at, unchecked_since)
            SELECT gen_random_uuid(), 1, 1, gen_random_uuid(), decode(repeat('ab', 40), 'hex'), 1,
                CASE WHEN i = 1 THEN 7 ELSE 1000 + i END, CASE WHEN i % 100 = 0 THEN 8 + i END
            FROM generate_series(1::bigint, \(count)) AS n (i)
            """,
            """
            INSERT INTO erasure (id, account_id, team_id, requested_at, deadline, finished_at)
            SELECT gen_random_uuid(), gen_random_uuid(), 1, i, i, CASE WHEN i <> 3 THEN i END
            FROM generate_series(1::bigint, \(count)) AS n (i)
            """,
            "ANALYZE",
            "SET statement_timeout = '5s'",
        ]
        try await store.pool.run { session in
            let timeout = session.deadlines
            session.deadlines = SessionDeadlines(statementTimeout: 600_000)
            for (number, sql) in statements.enumerated() {
                _ = try session.run(PostgresCall(PostgresStatement("fill_backlog_\(number)", sql)))
            }
            session.deadlines = timeout
        }
    }
}
