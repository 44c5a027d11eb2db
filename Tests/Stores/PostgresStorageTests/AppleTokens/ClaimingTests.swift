import AppleAccounts
import Foundation
import StorageConformance
import Testing

@testable import PostgresStorage
@testable import SQLTables

/// Claims by workers of several replicas at the same time. Each piece of work goes to one worker.
@Suite struct ClaimingTests {
    /// Claims with eight tasks, distributed over the replicas, until no task finds any work. Each task claims once per
    /// round, so that the first task does not claim everything before the others begin.
    private func claimAll(
        in replicas: Replicas, _ claim: @escaping @Sendable (PostgresAccountStore) async throws -> [UniqueID]
    ) async throws -> [[UniqueID]] {
        var shares = Array(repeating: [UniqueID](), count: 8)
        while true {
            let claimed = try await withThrowingTaskGroup(of: (Int, [UniqueID]).self) { group in
                for number in shares.indices {
                    let store = replicas.stores[number % replicas.stores.count]
                    group.addTask { (number, try await claim(store)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            if claimed.allSatisfy(\.1.isEmpty) { return shares }
            for (number, work) in claimed { shares[number] += work }
        }
    }

    /// Checks that each piece of work was claimed once, and that the work was shared.
    private func expect(_ shares: [[UniqueID]], are count: UInt64) {
        #expect(shares.flatMap { $0 }.sorted() == (1...count).map { .sample($0) })
        #expect(shares.filter { !$0.isEmpty }.count > 1)
    }

    @Test func `gives each code to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            _ = try await replicas.stores[0].commit(
                (1...400).map { number in
                    .signIn(.sample(key: .sample("p\(number)"), authorizationCode: .sample(number)))
                })
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimCodes(limit: 3, at: 2_000_000, leaseUntil: 3_000_000).map { claimed in
                    #expect(claimed.record.attempts == 1)
                    #expect(!claimed.isInterrupted)
                    return claimed.record.id
                }
            }
            expect(shares, are: 400)
        }
    }

    @Test func `gives each check to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            let first = replicas.stores[0]
            for number in 1...60 as ClosedRange<UInt64> {
                try await first.hold(number, key: .sample("p\(number)"), nextCheckAt: 5000)
            }
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimChecks(
                    limit: 2, at: 5000, nextAfter: 9000, jitterMilliseconds: 1000
                ).map(\.tokenID)
            }
            expect(shares, are: 60)
            let next = try #require(try await first.nextDue().check)
            #expect((9000..<10_000).contains(next.milliseconds))
        }
    }

    @Test func `gives each token of an erasure to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            for number in 1...60 as ClosedRange<UInt64> {
                let account = try await replicas.stores[0].hold(number, key: .sample("p\(number)"))
                try await replicas.stores[1].erase(.sample(number, account: account))
            }
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimErasureTokens(
                    limit: 2, at: 5_000_000, leaseUntil: 6_000_000, of: nil
                ).map(\.token.id)
            }
            expect(shares, are: 60)
        }
    }

    @Test func `leaves the claims of another replica alone when one starts`() async throws {
        try await Replicas.with(1) { replicas in
            let account = try await replicas.stores[0].hold(2, key: .sample("erased"))
            try await replicas.stores[0].erase(.sample(account: account))
            try await replicas.stores[0].signIn(.sample(authorizationCode: .sample(1)))
            func claim(_ store: PostgresAccountStore) async throws -> Int {
                let codes = try await store.claimCodes(limit: 9, at: 6_000_000, leaseUntil: 7_000_000)
                let tokens = try await store.claimErasureTokens(
                    limit: 9, at: 6_000_000, leaseUntil: 7_000_000, of: nil)
                return codes.count + tokens.count
            }
            #expect(try await claim(replicas.stores[0]) == 2)
            let second = try await replicas.openAnother()
            #expect(try await claim(second.accounts) == 0)
            await second.close()
        }
    }
}

/// Claims among 70,000 rows that are due in one millisecond.
@Suite struct ClaimCostTests {
    private static let ties = 70_000

    /// Calls of the prepared claims, of eight rows each.
    private static let claims: [(name: String, sql: String, call: String)] = [
        ("checks", AppleTokenStatements.dueChecks.text.postgres, "claim(5, 8, '[]')"),
        (
            "checks beside a resting client ID", AppleTokenStatements.dueChecks.text.postgres,
            "claim(5, 8, '[\"com.example.a\"]')"
        ),
        ("codes", AppleTokenStatements.dueCodes.text.postgres, "claim(5, 8)"),
        ("erasures", ErasureStatements.dueText.postgres, "claim(5, 8)"),
        ("receipts", ReceiptStatements.due.text.postgres, "claim(5, 8)"),
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
            let due = try await store.claimChecks(
                limit: 8, at: 5, nextAfter: 90, jitterMilliseconds: 1, except: ["com.example.a"])
            #expect(due.map(\.clientID) == ["com.example.b"])
            #expect(try await store.nextCheckDue(except: ["com.example.a"]) == 90)
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

/// Numbers about due work among many tokens, with `SIWA_TEST_PEOPLE=1000000` among a million: the monitor reads
/// them every 15 seconds.
@Suite struct BacklogPlanTests {
    @Test func `counts due work along indexes`() async throws {
        let count = min(SearchTrial.people(ProcessInfo.processInfo.environment), 1_000_000)
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store, count)
            try await store.pool.run { session in
                let sql = BacklogColumns.count.statement.text.postgres
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
