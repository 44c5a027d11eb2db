import AppleAccounts
import Foundation
import SQLTables
import StorageConformance
import Testing

@testable import PostgresStorage
@testable import SQLTables

/// Searches in a database of many people: their plans, and with `SIWA_TEST_PEOPLE=1000000` their times.
@Suite struct SearchPlanTests {
    @Test func `goes along an index in every search`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store, 1000)
            for question in SearchTrial.questions(1000) {
                _ = try await store.accounts(question.search, after: nil, limit: 25, at: 0)
            }
            try await store.pool.run { session in
                for text in SearchStatements.paths {
                    let statement = PostgresStatement(text.name, text.postgres)
                    let lines = try Self.plan(statement, in: session)
                    #expect(
                        !lines.contains { $0.contains("Seq Scan") || $0.contains("Hash Join") }, "\(lines)")
                    #expect(lines.contains { $0.contains("Index") }, "\(lines)")
                    // An order that an index does not have would read all rows before the first.
                    let sorts = lines.firstIndex { $0.contains("Sort") }
                    let limits = lines.lastIndex { $0.contains("Limit") }
                    if let sorts, !["search_subject"].contains(statement.name) {
                        #expect((limits ?? -1) > sorts, "\(lines)")
                    }
                }
            }
        }
    }

    /// Its planner knows nothing about the values of a partial index, and guesses that an address belongs to one in 200
    /// people. Below another `UNION ALL` it then read all people from the newest on: 1.4 s with a million.
    @Test func `finds an address by its index, whatever the planner guesses`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store, 20_000)
            try await store.pool.run { session in
                for setting in ["ANALYZE subject", "SET plan_cache_mode = force_generic_plan"] {
                    _ = try session.run(PostgresCall(PostgresStatement(setting, setting)))
                }
                for text in [
                    SearchStatements.email.text, SearchStatements.unsignedEmail.text,
                    SearchStatements.firstName.text, SearchStatements.lastName.text,
                    OAuthReadStatements.findByEmail.text,
                ] {
                    let lines = try Self.plan(PostgresStatement(text.name, text.postgres), in: session)
                    #expect(!lines.contains { $0.contains("subject_account_id_key") }, "\(lines)")
                    #expect(lines.contains { $0.contains("subject_by_") }, "\(lines)")
                }
            }
        }
    }

    private static let sweeps =
        GrantPurgeStatements.all.map(\.purge.text) + [
            HistoryStatements.purge.text, TicketStatements.purge.text, TransferStatements.purge.text,
            AppCheckHourStatements.purge.text, ServiceHourStatements.purge.text,
        ]

    @Test func `finds an event by its number, a due check and the rows of a sweep along an index`()
        async throws
    {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session in
                // Tables without rows, of which the planner otherwise reads all.
                for setting in ["SET enable_seqscan = off", "SET plan_cache_mode = force_generic_plan"] {
                    _ = try session.run(PostgresCall(PostgresStatement(setting, setting)))
                }
                for text in [EventStatements.find.text] + Self.sweeps {
                    let lines = try Self.plan(PostgresStatement(text.name, text.postgres), in: session)
                    #expect(lines.contains { $0.contains("Index") }, "\(lines)")
                    #expect(!lines.contains { $0.contains("Seq Scan") }, "\(lines)")
                }
                let next = AppleTokenStatements.nextCheck.text
                let lines = try Self.plan(PostgresStatement(next.name, next.postgres), in: session)
                #expect(lines.contains { $0.contains("refresh_token_by_client") }, "\(lines)")
            }
        }
    }

    @Test func `answers every search among many people`() async throws {
        let count = SearchTrial.people(ProcessInfo.processInfo.environment)
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await Self.fill(store, count)
            let wrong = try await SearchTrial.wrongPages(of: store, named: "PostgreSQL", people: count)
            #expect(wrong == [])
        }
    }

    @Test func `notes a sign-in of a known user once a day`() async throws {
        let users = min(SearchTrial.people(ProcessInfo.processInfo.environment) / 30, 20_000)
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let pace = try await SignInPace.measure(store, users: users, rounds: 3)
            if users > 1000 { print("PostgreSQL, sign-in: same day \(pace.sameDay), new day \(pace.newDay)") }
            let account = try #require(try await store.account(.sample("known-0")))
            #expect(try await store.history(of: account.id, limit: 9).count == 3)
        }
    }

    private static func plan(_ statement: PostgresStatement, in session: PostgresSession) throws -> [String] {
        let parameters = statement.sql.matches(of: #/\$(\d+)/#).compactMap { Int($0.1) }.max() ?? 0
        let nulls = Array(repeating: "NULL", count: parameters).joined(separator: ", ")
        // Sessions prepare a statement at its first use.
        let prepare = PostgresStatement(
            "prepare_\(statement.name)", "PREPARE plan_of_\(statement.name) AS \(statement.sql)")
        _ = try session.run(PostgresCall(prepare))
        let explain = PostgresStatement(
            "explain_\(statement.name)", "EXPLAIN EXECUTE plan_of_\(statement.name)(\(nulls))")
        let plan = try session.run(PostgresCall(explain))
        return (0..<plan.count).compactMap { plan.text($0, 0) }
    }

    private static func fill(_ store: PostgresAccountStore, _ count: Int) async throws {
        // IDs that carry the time of creation, as real ones do.
        let time = "lpad(to_hex(1704067200000 + i * 1000), 12, '0')"
        let id = """
            (substr(\(time), 1, 8) || '-' || substr(\(time), 9, 4) || '-7000-8000-'
                || lpad(to_hex(i), 12, '0'))::uuid
            """
        let statements = [
            "SET statement_timeout = 0",
            "INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5')",
            """
            INSERT INTO app (id, name) VALUES (1, 'com.example.a'), (2, 'com.example.b'), (3, 'com.example.rare')
            """,
            """
            INSERT INTO subject (\(ManyPeople.subjectColumns))
            SELECT i + 1, 1, '000001.' || i, \(id), 1704067200000 + i * 1000,
                CASE WHEN i % 3 = 0 THEN 'r' || i || '@privaterelay.appleid.com'
                    ELSE 'Person' || i || '@example.com' END,
                true, i % 3 = 0, 1704067200000 + i * 1000, CASE WHEN i % 2 = 0 THEN 'Ada' ELSE 'Grace' || i END,
                'Name' || i
            FROM generate_series(0::bigint, \(count - 1)) AS n (i)
            """,
            """
            INSERT INTO credential (\(ManyPeople.credentialColumns))
            SELECT s.id, CASE WHEN s.id % 10007 = 1 THEN 3 ELSE 1 + s.id % 2 END, s.created_at, 1,
                CASE WHEN s.id % 50 = 0 THEN s.created_at + 1 END,
                CASE WHEN s.id % 50 = 0 THEN CASE WHEN s.id % 1000 = 0 THEN 3 ELSE 2 END END,
                CASE WHEN s.id % 50 = 0 THEN 2 END, s.created_at, s.created_at,
                CASE WHEN s.id % 4 = 0 THEN 1 END, NULL, NULL, NULL
            FROM subject s
            """,
            """
            INSERT INTO credential (\(ManyPeople.credentialColumns))
            SELECT s.id, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s.created_at, 253402300799999, 1
            FROM subject s WHERE s.id % 1000 = 7 OR s.id % 70000 = 1
            """,
            """
            INSERT INTO oauth_grant (id, account_id, oauth_client, app_id, scope, created_at, consented_at,
                authorized_at)
            SELECT account_id, account_id, 'phone', 1 + id % 2, 'openid', created_at, created_at, created_at
            FROM subject WHERE id % 20 = 0
            """,
        ]
        try await store.pool.run { session in
            let timeout = session.deadlines
            session.deadlines = SessionDeadlines(statementTimeout: 600_000)
            for (number, sql) in statements.enumerated() {
                _ = try session.run(PostgresCall(PostgresStatement("fill_\(number)", sql)))
            }
            _ = try session.run(
                PostgresCall(PostgresStatement("fill_done", "SET statement_timeout = '5s'")))
            session.deadlines = timeout
        }
    }
}
