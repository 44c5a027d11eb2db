import AppleAccounts
import Foundation
import StorageConformance
import Testing

@testable import PostgresStorage

/// Claims among 70,000 rows that are due in one millisecond.
@Suite struct ClaimCostTests {
    private static let ties = 70_000

    /// Calls of the prepared claims, of eight rows each.
    private static let claims: [(name: String, sql: String, call: String)] = [
        ("checks", AppleTokenClaims.claimChecks.statement.statement.sql, "claim(5, 8, 90, 1, 99, '{}')"),
        (
            "checks beside a resting client ID", AppleTokenClaims.claimChecks.statement.statement.sql,
            "claim(5, 8, 90, 1, 99, '{com.example.a}')"
        ),
        ("codes", AppleTokenClaims.claimCodes.statement.statement.sql, "claim(5, 8, 90)"),
        ("erasures", ErasureClaims.claim.any.statement.sql, "claim(5, 8, 90)"),
        ("receipts", PostgresAccountStore.claimDueReceipts.statement.statement.sql, "claim(5, 90, 8)"),
    ]

    @Test func `read few rows, however many are due in one millisecond`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store)
            for claim in Self.claims {
                let lines = try await Self.plan(of: claim, in: store)
                let rows = lines.flatMap { line in
                    line.matches(of: /actual rows=([0-9]+)/).compactMap { Int($0.output.1) }
                }
                #expect(!rows.isEmpty, "\(claim.name): \(lines)")
                #expect(rows.allSatisfy { $0 <= 200 }, "\(claim.name): \(lines.joined(separator: "\n"))")
            }
            // The other client ID has one token.
            let due = try await store.nextCheckDue(except: ["com.example.a"])
            #expect(due == 90)
        }
    }

    private static func plan(
        of claim: (name: String, sql: String, call: String), in store: PostgresAccountStore
    ) async throws -> [String] {
        try await store.pool.run { session in
            let statements = [
                "PREPARE claim AS \(claim.sql)", "SET plan_cache_mode = force_generic_plan",
                "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) EXECUTE \(claim.call)", "DEALLOCATE claim",
            ]
            var lines: [String] = []
            for (number, sql) in statements.enumerated() {
                let name = "\(claim.name)_\(number)"
                let rows = try session.run(PostgresCall(PostgresStatement(name, sql)))
                if number == 2 { lines = (0..<rows.count).compactMap { rows.text($0, 0) } }
            }
            return lines
        }
    }

    private static func fill(_ store: PostgresAccountStore) async throws {
        let statements = [
            "SET statement_timeout = 0",
            "INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5')",
            "INSERT INTO app (id, name) VALUES (1, 'com.example.a')",
            "INSERT INTO client (id, name) VALUES (1, 'com.example.a'), (2, 'com.example.b')",
            """
            INSERT INTO subject (id, team_id, sub, account_id, created_at)
            SELECT i, 1, '000001.' || i, gen_random_uuid(), 1 FROM generate_series(1::bigint, \(ties)) AS n (i)
            """,
            """
            INSERT INTO refresh_token (account_id, client_id, app_id, token_id, sealed, authorized_at, next_check_at)
            SELECT account_id, CASE WHEN id = 1 THEN 2 ELSE 1 END, 1, gen_random_uuid(),
                decode(repeat('ab', 40), 'hex'), 1, 5 FROM subject
            """,
            """
            INSERT INTO authorization_code (id, account_id, client_id, app_id, sealed, authorized_at, received_at,
                expires_at, attempts, next_attempt_at, is_claimed)
            SELECT gen_random_uuid(), account_id, 1, 1, decode(repeat('ab', 40), 'hex'), 1, 1, 300000, 0, 5, false
            FROM subject
            """,
            """
            INSERT INTO erasure (id, account_id, team_id, requested_at, deadline)
            SELECT gen_random_uuid(), account_id, 1, 1, 9 FROM subject
            """,
            """
            INSERT INTO erasure_token (id, erasure_id, client_id, app_id, kind, step, attempts, next_attempt_at,
                is_claimed, sealed)
            SELECT gen_random_uuid(), id, 1, 1, 2, 2, 0, 5, false, decode(repeat('ab', 40), 'hex') FROM erasure
            """,
            """
            INSERT INTO app_attest_key (key_id, app_id, public_key, environment, counter, created_at, used_at,
                receipt, receipt_refresh_at)
            SELECT sha256(i::text::bytea), 'A1B2C3D4E5.com.example.a', decode(repeat('ab', 65), 'hex'), 1, 0, 1, 1,
                decode(repeat('ab', 40), 'hex'), 5 FROM generate_series(1::bigint, \(ties)) AS n (i)
            """,
            "ANALYZE",
            "SET statement_timeout = '5s'",
        ]
        try await store.pool.run { session in
            let timeout = session.deadlines
            session.deadlines = SessionDeadlines(statementTimeout: 600_000)
            for (number, sql) in statements.enumerated() {
                _ = try session.run(PostgresCall(PostgresStatement("fill_claims_\(number)", sql)))
            }
            session.deadlines = timeout
        }
    }
}
