import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLTables
@testable import SQLiteStorage

/// Searches in a database of many people: their plans, and with `SIWA_TEST_PEOPLE=1000000` their times.
@Suite struct SearchPlanTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    private static let bigTables = ["subject", "credential", "event", "oauth_grant", "account_history"]

    @Test func `goes along an index in every search`() async throws {
        try await file.use { _ in }
        try await fill(1000)
        for text in SearchStatements.paths + [SearchStatements.load.text] {
            let plan = try await plan(text.sqlite)
            #expect(!plan.isEmpty, "\(text.name)")
            for step in plan {
                let isScan = Self.bigTables.contains { step.hasPrefix("SCAN \($0)") }
                #expect(!isScan && !step.hasPrefix("SCAN s "), "\(text.name): \(plan)")
            }
        }
        for (sql, index) in [
            (
                "SELECT * FROM event WHERE account_id = :a AND account_id IS NOT NULL AND sequence > :b",
                "event_by_account"
            ),
            ("SELECT * FROM account_history WHERE recorded_at < :a", "account_history_by_time"),
        ] {
            let plan = try await plan(sql)
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
        }
        for (text, index) in [
            (SearchStatements.email.text, "subject_by_email"),
            (SearchStatements.unsignedEmail.text, "subject_by_unsigned_email"),
            (SearchStatements.firstName.text, "subject_by_first_name"),
            (SearchStatements.lastName.text, "subject_by_last_name"),
            (OAuthReadStatements.findByEmail.text, "subject_by_email"),
        ] {
            let plan = try await plan(text.sqlite)
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
        }
    }

    @Test func `counts due work along indexes`() async throws {
        try await file.use { _ in }
        let plan = try await plan(BacklogColumns.count.statement.text.sqlite)
        for index in [
            "authorization_code_by_attempt", "refresh_token_by_check", "refresh_token_unchecked",
            "erasure_token_by_attempt", "erasure_unfinished",
        ] {
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
        }
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        for step in plan
        where step.hasPrefix("SCAN") && !step.hasPrefix("SCAN CONSTANT ROW") && step != "SCAN d" {
            #expect(step.contains("INDEX") || step == "SCAN authorization_code", "\(plan)")
        }
    }

    @Test func `claims due work in the order of an index, also among rows of one time`() async throws {
        try await file.use { _ in }
        for (text, index) in [
            (AppleTokenStatements.dueChecksOfClient.text, "refresh_token_by_client"),
            (AppleTokenStatements.dueCodes.text, "authorization_code_by_attempt"),
            (ErasureStatements.dueText, "erasure_token_by_attempt"),
            (ReceiptStatements.due.text, "app_attest_key_by_refresh"),
            (AppleTokenStatements.nextCheck.text, "refresh_token_by_client"),
        ] {
            let plan = try await plan(text.sqlite)
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }

    private static let sweeps =
        GrantPurgeStatements.all.map(\.purge.text) + [
            HistoryStatements.purge.text, TicketStatements.purge.text, TransferStatements.purge.text,
            AppCheckHourStatements.purge.text, ServiceHourStatements.purge.text,
        ]

    @Test func `finds an event by its number, and the rows of a sweep along an index`() async throws {
        try await file.use { _ in }
        for text in [EventStatements.find.text] + Self.sweeps {
            let plan = try await plan(text.sqlite)
            #expect(!plan.isEmpty, "\(text.name)")
            #expect(
                !plan.contains { $0.hasPrefix("SCAN") && !$0.contains(" USING ") }, "\(text.name): \(plan)")
        }
    }

    @Test func `changes what was claimed along its key`() async throws {
        try await file.use { _ in }
        for text in [
            AppleTokenStatements.claimCode.text, AppleTokenStatements.releaseCode.text,
            AppleTokenStatements.moveCheck.text, AppleTokenStatements.releaseCheck.text,
        ] {
            let plan = try await plan(text.sqlite)
            #expect(!plan.isEmpty && !plan.contains { $0.hasPrefix("SCAN") }, "\(text.name): \(plan)")
        }
    }

    @Test func `answers every search among many people`() async throws {
        let count = SearchTrial.people(ProcessInfo.processInfo.environment)
        try await file.use { _ in }
        try await fill(count)
        try await file.use { database in
            let wrong = try await SearchTrial.wrongPages(
                of: database.accounts, named: "SQLite", people: count)
            #expect(wrong == [])
        }
    }

    @Test func `notes a sign-in of a known user once a day`() async throws {
        let users = min(SearchTrial.people(ProcessInfo.processInfo.environment) / 30, 20_000)
        try await file.use { database in
            let pace = try await SignInPace.measure(database.accounts, users: users, rounds: 3)
            if users > 1000 { print("SQLite, sign-in: same day \(pace.sameDay), new day \(pace.newDay)") }
            let account = try #require(try await database.accounts.account(.sample("known-0")))
            #expect(try await database.accounts.history(of: account.id, limit: 9).count == 3)
        }
    }

    private func plan(_ sql: String) async throws -> [String] {
        try await DatabaseQueue(path: file.path, configuration: .reading()).read { database in
            let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0["detail"] as String }
        }
    }

    private func fill(_ count: Int) async throws {
        let sql = """
            INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5');
            INSERT INTO app (id, name) VALUES (1, 'com.example.a'), (2, 'com.example.b'), (3, 'com.example.rare');
            CREATE TEMP TABLE person (i INTEGER PRIMARY KEY);
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
            INSERT INTO person SELECT i FROM n;
            INSERT INTO subject (\(ManyPeople.subjectColumns), key_digest)
            SELECT i + 1, 1, '000001.' || i, account_id(i), 1704067200000 + i * 1000,
                CASE WHEN i % 3 = 0 THEN 'r' || i || '@privaterelay.appleid.com'
                    ELSE 'Person' || i || '@example.com' END,
                1, i % 3 = 0, 1704067200000 + i * 1000, CASE WHEN i % 2 = 0 THEN 'Ada' ELSE 'Grace' || i END,
                'Name' || i, key_digest(1, '000001.' || i)
            FROM person;
            INSERT INTO credential (\(ManyPeople.credentialColumns), id, key_check)
            SELECT s.id, CASE WHEN s.id % 10007 = 1 THEN 3 ELSE 1 + s.id % 2 END, s.created_at, 1,
                CASE WHEN s.id % 50 = 0 THEN s.created_at + 1 END,
                CASE WHEN s.id % 50 = 0 THEN CASE WHEN s.id % 1000 = 0 THEN 3 ELSE 2 END END,
                CASE WHEN s.id % 50 = 0 THEN 2 END, s.created_at, s.created_at,
                CASE WHEN s.id % 4 = 0 THEN 1 END, NULL, NULL, NULL,
                first_credential_id(s.key_digest) + 1, key_check(s.key_digest)
            FROM subject s;
            INSERT INTO credential (\(ManyPeople.credentialColumns), id, key_check)
            SELECT s.id, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s.created_at, 253402300799999, 1,
                first_credential_id(s.key_digest), key_check(s.key_digest)
            FROM subject s WHERE s.id % 1000 = 7 OR s.id % 70000 = 1;
            INSERT INTO oauth_grant (id, account_id, oauth_client, app_id, scope, created_at, consented_at,
                authorized_at)
            SELECT account_id, account_id, 'phone', 1 + id % 2, 'openid', created_at, created_at, created_at
            FROM subject WHERE id % 20 = 0;
            """
        try await DatabaseQueue(path: file.path, configuration: .writing(patience: 5))
            .writeWithoutTransaction { database in
                // IDs that carry the time of creation, as real ones do.
                database.add(
                    function: DatabaseFunction("account_id", argumentCount: 1, pure: true) { values in
                        guard let number = Int64.fromDatabaseValue(values[0]) else { return nil }
                        let time = UInt64(ManyPeople.moment(Int(number)).milliseconds)
                        return UniqueID(high: time << 16 | 0x7000, low: 1 << 63 | UInt64(number)).data
                    })
                try database.execute(sql: "PRAGMA synchronous = OFF; BEGIN")
                try database.execute(sql: sql)
                try database.execute(sql: "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
            }
    }
}
