import AppleAccounts
import AuthorizationServer
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

@Suite struct SchemaTests {
    private static let one = Migration(number: 1, minimumReader: 1, sql: "CREATE TABLE thing (id bigint);")
    private static let two = Migration(
        number: 2, minimumReader: 1, sql: "ALTER TABLE thing ADD COLUMN name text;")
    private static let three = Migration(
        number: 3, minimumReader: 3, sql: "ALTER TABLE thing RENAME COLUMN name TO title;")

    private func pool(_ url: String? = nil, connections: Int = 2) async throws -> PostgresPool {
        let made = try await PostgresCluster.shared().makeDatabase()
        return PostgresPool(try PostgresURL(url ?? made), connections: connections)
    }

    @Test func `lets programs go on that the newest migration still allows, and no others`() async throws {
        let pool = try await pool()
        let migrated = try await Schema.migrate(pool, [Self.one])
        #expect(migrated == (0, 1))
        #expect(try await Schema.migrate(pool, [Self.one, Self.two]) == (1, 2))
        // An old replica that is started again meanwhile.
        #expect(try await Schema.migrate(pool, [Self.one]) == (2, 2))
        #expect(try await Schema.migrate(pool, [Self.one, Self.two, Self.three]) == (2, 3))
        await #expect(throws: StorageError(.schemaTooNew, detail: "")) {
            try await Schema.migrate(pool, [Self.one, Self.two])
        }
        await pool.close()
    }

    @Test func `runs each migration once when many replicas start together`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let slow = Migration(
            number: 1, minimumReader: 1, sql: "SELECT pg_sleep(0.3); CREATE TABLE thing (id bigint);")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let pool = PostgresPool(try PostgresURL(url), connections: 1)
                    let migrated = try await Schema.migrate(pool, [slow, Self.two])
                    await pool.close()
                    return migrated.to
                }
            }
            for try await version in group { #expect(version == 2) }
        }
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        let count = PostgresCall(PostgresStatement("test_count", "SELECT count(*) FROM siwa_schema"))
        #expect(try await pool.run { try $0.run(count).integer(0, 0) } == 2)
        await pool.close()
    }

    @Test(arguments: ["CREATE TABLE broken (", "CREATE TABLE account (id bigint);", "SELECT 1 / 0;"])
    func `changes nothing when a migration fails`(script: String) async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        try await pool.run { try $0.execute(script: "CREATE TABLE account (id bigint)", name: "another") }
        let bad = Migration(number: 2, minimumReader: 1, sql: "DROP TABLE thing; " + script)
        await #expect(throws: StorageError(.migrationFailed, detail: "")) {
            try await Schema.migrate(pool, [Self.one, bad])
        }
        #expect(
            try await pool.run { try Schema.version(in: $0) } == Schema.Version(number: 1, minimumReader: 1))
        #expect(try await Schema.migrate(pool, [Self.one, Self.two]) == (1, 2))
        await pool.close()
    }

    @Test func `keeps the rows of a schema when a later one comes, and replicas go on`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let database = try await PostgresDatabase.open(
            url: url, sealing: SampleSealing(), logger: .silent)
        let account = try await database.accounts.hold(1, key: .sample(), authorizedAt: 5000)
        let count = Schema.migrations.count
        let next = Migration(
            number: count + 1, minimumReader: 1,
            sql: "ALTER TABLE subject ADD COLUMN nickname text; UPDATE subject SET nickname = first_name;")
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        #expect(try await Schema.migrate(pool, Schema.migrations + [next]) == (count, count + 1))
        // The replica that does not know the later schema.
        #expect(try await database.accounts.account(.sample())?.id == account.id)
        try await database.accounts.erase(.sample(account: account, at: 9000))
        await database.close()
        let again = try await PostgresDatabase.open(
            url: url, sealing: SampleSealing(), logger: .silent)
        #expect(try await again.accounts.account(.sample()) == nil)
        #expect(try await again.accounts.allEvents().map(\.kind).contains(.accountErased))
        await again.close()
        await pool.close()
    }

    /// A replica of the first schema has exchanged a token, and goes on beside one of the second.
    @Test func `opens a database of the first schema with its tokens, by their rule`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let made = try await PostgresDatabase.open(url: url, sealing: SampleSealing(), logger: .silent)
        try await made.accounts.link()
        try await made.accounts.refresh(.sample(at: 2_100_000))
        await made.close()
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        let copy = """
            DO $$ DECLARE t text; c text; BEGIN
                FOR t, c IN SELECT conrelid::regclass, conname FROM pg_constraint
                    WHERE contype = 'f' AND connamespace = 'public'::regnamespace
                LOOP
                    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', t, c);
                END LOOP;
                FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
                    AND tablename <> 'siwa_schema'
                LOOP
                    SELECT string_agg(quote_ident(column_name), ', ') INTO c
                    FROM information_schema.columns WHERE table_schema = 'public' AND table_name = t;
                    EXECUTE format('DELETE FROM public.%I', t);
                    EXECUTE format('INSERT INTO public.%I (%s) SELECT %s FROM made.%I', t, c, c, t);
                END LOOP;
            END $$;
            """
        try await pool.run {
            try $0.execute(script: "ALTER SCHEMA public RENAME TO made; CREATE SCHEMA public;", name: "move")
        }
        #expect(try await Schema.migrate(pool, [.first]) == (0, 1))
        try await pool.run { try $0.execute(script: copy, name: "copy") }
        await pool.close()

        let database = try await PostgresDatabase.open(url: url, sealing: SampleSealing(), logger: .silent)
        let status = try #require(try await database.accounts.status(ofFamily: .sample(1)))
        #expect(
            status.family.refreshToken?.exchanged == [
                .init(digest: SampleToken(family: 1).digest, moment: 2_100_000, salt: nil)
            ])
        let again = try await database.accounts.refresh(.sample(salt: 3, at: 2_129_999))
        #expect(again.successor == SampleToken(family: 1).next(3).text)
        let later = try await database.accounts.refresh(.sample(salt: 4, at: 88_000_000))
        #expect(later.successor == again.successor)
        await database.close()
    }

    @Test func `refuses a database of another encoding at once`() async throws {
        let shared = try await PostgresCluster.shared()
        for encoding in ["SQL_ASCII", "LATIN1"] {
            let url = try await shared.makeDatabase(encoding: encoding)
            await #expect(throws: StorageError(.migrationFailed, detail: "")) {
                _ = try await PostgresDatabase.open(url: url, logger: .silent)
            }
        }
    }

    @Test func `opens what it has made, and an inspection sees it and writes nothing`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let inspection = try PostgresInspection(url: url)
        #expect(try await inspection.schemaVersion() == 0)
        #expect(try await inspection.isSchemaUsable())
        for _ in 0..<2 {
            let database = try await PostgresDatabase.open(url: url, logger: .silent)
            try await database.accounts.checkHealth()
            await database.close()
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await database.accounts.checkHealth()
            }
        }
        #expect(try await inspection.schemaVersion() == PostgresInspection.knownSchemaVersion)
        #expect(try await inspection.primaryClientIDs() == [])
        #expect(try await inspection.sealedSecrets(after: nil, limit: 10).isEmpty)
        await inspection.close()

        let pool = PostgresPool(try PostgresURL(url), connections: 1, purpose: .inspection)
        await #expect(throws: StorageError(.readOnly, detail: "")) {
            try await pool.run { try $0.execute(script: "DELETE FROM health_probe", name: "test") }
        }
        await pool.close()
    }
}
