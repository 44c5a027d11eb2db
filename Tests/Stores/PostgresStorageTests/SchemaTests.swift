import AppleAccounts
import AuthorizationServer
import Foundation
import KeySets
import Logging
import PostgresCluster
import SQLTables
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

@Suite struct TableColumnsTests {
    @Test func `declares and classifies every column of the schema, and nothing else`() async throws {
        try await Replicas.with(1) { replicas in
            let found = try await PostgresCluster.shared().superuserQuery(
                """
                SELECT table_name || '.' || column_name FROM information_schema.columns
                WHERE table_schema = 'public'
                """, in: replicas.name)
            let declared = DeclaredTables.all.flatMap { table in
                table.columns.map { "\(table.name).\($0.name)" }
            }
            #expect(declared.sorted() == found.split(separator: "\n").map { String($0) }.sorted())
        }
    }

    @Test func `leaves no personal and no secret value of a user who was erased`() async throws {
        try await Replicas.with(1) { replicas in
            let words = try await ErasureTrace(DeclaredTables.all, read: { try await Self.tables(replicas) })
                .run(replicas.stores[0])
            #expect(words.contains("trace-mail@example.com") && words.contains("Tracina"))
        }
    }

    @Test func `the benchmark fills columns that the tables have, and all that they require`() throws {
        let lists = try BenchmarkRows.lists().filter { !["fill_sqlite", "_fill_keys"].contains($0.function) }
        #expect(
            lists.map(\.table) == [
                "oauth_grant", "oauth_token_family", "oauth_code", "credential", "subject", "credential",
            ])
        #expect(BenchmarkRows.mistakes(in: lists, of: DeclaredTables.all) == [])
        // The comparison finds what is wrong.
        let wrong = BenchmarkRows.List(function: "", table: "credential", columns: ["subject_id", "other"])
        #expect(
            BenchmarkRows.mistakes(in: [wrong], of: DeclaredTables.all) == [
                "credential.other: no such column", "credential.app_id: is missing",
            ])
    }

    @Test func `numbers no parameter and reads no column by its position outside of the mechanism`() throws {
        let mechanism: Set = [
            "Connection/TypedStatement.swift", "Connection/RowParameters.swift",
            "Connection/PostgresRows.swift",
        ]
        #expect(
            try SourceCheck.lines(in: "PostgresStorage", matching: #"\$[0-9]+::"#, exempt: mechanism) == [])
        #expect(
            try SourceCheck.lines(
                in: "PostgresStorage", matching: #"Column(<[^>]*>)?\(|PQgetvalue|row\[[0-9]"#,
                exempt: mechanism) == [])
    }

    /// Every row of every declared table, by its primary key.
    private static func tables(_ replicas: Replicas) async throws -> ErasureTrace.Tables {
        let cluster = try await PostgresCluster.shared()
        var tables: ErasureTrace.Tables = [:]
        for table in DeclaredTables.all {
            let key = try await cluster.superuserQuery(
                """
                SELECT a.attname FROM pg_index i
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                WHERE i.indisprimary AND i.indrelid = '\(table.name)'::regclass ORDER BY a.attnum
                """, in: replicas.name
            ).split(separator: "\n")
            let rows = try await cluster.superuserQuery(
                "SET bytea_output = escape; SELECT row_to_json(entry) FROM \(table.name) entry",
                in: replicas.name)
            for line in rows.split(separator: "\n") {
                let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
                let row = try #require(json as? [String: Any])
                let values = row.compactMapValues { $0 is NSNull ? nil : "\($0)" }
                let name = key.map { values[String($0)] ?? "" }.joined(separator: "/")
                tables[table.name, default: [:]][name] = values
            }
        }
        return tables
    }
}

/// TLS as requested in the URL.
@Suite struct EncryptionTests {
    private static let isEncrypted = PostgresCall(
        PostgresStatement("test_tls", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))

    private func isEncrypted(_ url: String) async throws -> Bool? {
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        do {
            let isEncrypted = try await pool.run { try $0.run(Self.isEncrypted).boolean(0, 0) }
            // Also when more is sent than fits into one record.
            let text = String(repeating: "x", count: 1 << 20)
            let echo = PostgresCall(PostgresStatement("test_echo", "SELECT $1::text"), [.text(text)])
            #expect(try await pool.run { try $0.pipeline([echo, echo, echo])[2].text(0, 0) } == text)
            await pool.close()
            return isEncrypted
        } catch {
            await pool.close()
            throw error
        }
    }

    @Test func `encrypts, and talks to no server whose certificate is not the right one`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false, ssl: true)
        let stranger = try await PostgresCluster.start(fsync: false, ssl: true)
        let authority = try #require(cluster.certificateAuthority)
        let other = try #require(stranger.certificateAuthority)
        let url = try await cluster.makeDatabase()
        #expect(try await isEncrypted(url + "?sslmode=require") == true)
        #expect(try await isEncrypted(url + "?sslmode=disable") == false)
        #expect(try await isEncrypted(url + "?sslmode=verify-full&sslrootcert=\(authority)") == true)
        let byAddress = url.replacing("@localhost:", with: "@127.0.0.1:")
        #expect(try await isEncrypted(byAddress + "?sslmode=verify-ca&sslrootcert=\(authority)") == true)
        for wrong in [
            url + "?sslmode=verify-full&sslrootcert=\(other)",
            byAddress + "?sslmode=verify-full&sslrootcert=\(authority)",
            url + "?sslmode=verify-full&sslrootcert=/nowhere",
        ] {
            await #expect(throws: StorageError(.unavailable, detail: "")) { _ = try await isEncrypted(wrong) }
        }
        try await stranger.remove()
        try await cluster.remove()
    }

    @Test func `talks to no server without TLS when the URL wants it`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            _ = try await isEncrypted(url + "?sslmode=require")
        }
    }
}

@Suite struct KeySetSnapshotTests {
    @Test func `keeps the newest set, whichever replica saves last`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let one = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        let other = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        #expect(try await one.keySetSnapshots.load() == nil)
        let old = KeySetSnapshot(body: [1, 2], entityTag: "a", fetchedAt: 10, freshUntil: 20)
        let new = KeySetSnapshot(body: [0, 255], entityTag: nil, fetchedAt: 11, freshUntil: 19)
        try await one.keySetSnapshots.save(old)
        #expect(try await other.keySetSnapshots.load() == old)
        try await other.keySetSnapshots.save(new)
        try await one.keySetSnapshots.save(old)
        #expect(try await one.keySetSnapshots.load() == new)
        await one.close()
        await other.close()
    }
}
