import AppleAccounts
import AuthorizationServer
import Foundation
import GRDB
import Logging
import SQLTables
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct SchemaTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `counts its migrations without gaps`() {
        #expect(Schema.migrations.map(\.number) == Array(1...Schema.migrations.count))
    }

    @Test func `runs each migration once`() throws {
        let database = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        let steps = try database.writeWithoutTransaction { database in
            [try Schema.migrate(database), try Schema.migrate(database)]
        }
        #expect(steps.map(\.from) == [0, Schema.migrations.count])
        #expect(steps.map(\.to) == [Schema.migrations.count, Schema.migrations.count])
    }

    @Test func `goes on from where an older version stopped`() throws {
        let next = Migration(number: 2, sql: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;")
        try DatabaseQueue().writeWithoutTransaction { database in
            _ = try Schema.migrate(database, [.first])
            #expect(try Schema.migrate(database, [.first, next]) == (1, 2))
            #expect(try database.tableExists("later"))
        }
    }

    @Test func `undoes a migration that fails`() throws {
        let broken = Migration(
            number: 2, sql: "CREATE TABLE half (id INTEGER); CREATE TABLE team (id INTEGER);")
        try DatabaseQueue().writeWithoutTransaction { database in
            _ = try Schema.migrate(database, [.first])
            #expect(throws: StorageError(.migrationFailed, detail: "")) {
                try Schema.migrate(database, [.first, broken])
            }
            #expect(try !database.tableExists("half"))
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1)
        }
    }

    @Test func `refuses a database of a newer version and leaves it alone`() async throws {
        try await file.use { _ in }
        try execute("PRAGMA user_version = 99; CREATE TABLE future (id INTEGER)")
        await #expect(throws: StorageError(.schemaTooNew, detail: "")) { try await file.open() }
        try execute("INSERT INTO future (id) VALUES (1)")
        try execute("PRAGMA user_version = \(Schema.migrations.count)")
        try await file.open().close()
    }

    @Test func `refuses a database of another program, and has released it when it says so`() async throws {
        // The other program's log is long, so the refused connection begins a checkpoint.
        let other = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        try await other.writeWithoutTransaction {
            try $0.execute(
                sql: "CREATE TABLE someone (x BLOB); INSERT INTO someone VALUES (zeroblob(40000000))")
        }
        for _ in 1...2 {
            await #expect(throws: StorageError(.migrationFailed, detail: "")) { try await file.open() }
        }
        try other.close()
    }

    @Test func `refuses a file that is no database`() async throws {
        try Array("this is no database, it only has the name of one".utf8).withUnsafeBytes {
            try #require(FileWriting.write($0, to: file.path))
        }
        await #expect(throws: StorageError(.corrupted, detail: "")) { try await file.open() }
    }

    @Test func `refuses a directory that is not there`() async throws {
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            try await SQLiteDatabase.open(
                path: file.directory + "/none/siwa.sqlite", patience: .zero, logger: Logger(label: "test"))
        }
    }

    @Test func `lets one process have the file`() async throws {
        let database = try await file.open()
        await #expect(throws: StorageError(.busy, detail: "")) { try await file.open() }
        await database.close()
        try await file.use { _ in }
    }

    @Test(arguments: [
        "INSERT INTO subject (team_id, sub, key_digest) VALUES (1, '', randomblob(16))",
        "INSERT INTO subject (team_id, sub, key_digest) VALUES (77, 'no such team', randomblob(16))",
        """
        INSERT INTO subject (team_id, sub, key_digest, account_id)
        VALUES (1, 'x', randomblob(16), x'00112233445566778899aabbccddeeff')
        """,
        """
        INSERT INTO subject (team_id, sub, key_digest, email) VALUES (1, 'x', randomblob(16), 'a@example.com')
        """,
        """
        INSERT INTO subject (team_id, sub, key_digest, created_at) VALUES (1, 'x', randomblob(16), 'yesterday')
        """,
        "INSERT INTO subject (team_id, sub) VALUES (1, 'x')",
        "INSERT INTO subject (team_id, sub, key_digest) VALUES (1, 'x', randomblob(15))",
        "INSERT INTO credential (subject_id, app_id, key_check) VALUES (77, 1, 5)",
        "INSERT INTO credential (subject_id, app_id, key_check) VALUES (1, 77, 5)",
        "INSERT INTO credential (subject_id, app_id, key_check) VALUES (1, 1, 5)",
        "INSERT INTO credential (subject_id, app_id) VALUES (1, 0)",
        "INSERT INTO credential (subject_id, app_id, key_check, authorized_at) VALUES (1, 0, 5, 5)",
        """
        INSERT INTO app (id, name) VALUES (32768, 'org.example.far');
        INSERT INTO credential (subject_id, app_id, key_check) VALUES (1, 32768, 5)
        """,
        "UPDATE credential SET authorized_at = -1",
        "UPDATE credential SET authorized_at = 253402300800000",
        "UPDATE credential SET disabled_at = 5, disabled_until = 9, disabled_reason = 1",
        "UPDATE credential SET sessions_ended_at = 5",
        "INSERT INTO credential (subject_id, app_id, key_check, disabled_until) VALUES (1, 0, 5, 9)",
        "DELETE FROM subject",
        "DELETE FROM team",
        "INSERT INTO subject (team_id, sub, key_digest) SELECT team_id, sub, key_digest FROM subject",
    ])
    func `keeps rows that make no sense out`(sql: String) async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        #expect(throws: DatabaseError.self) { try execute(sql) }
    }

    private func execute(_ sql: String) throws {
        try DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: sql) }
    }
}

/// An upgrade to an invented next version, and the upgrade of a database of the first.
@Suite struct MigrationTests {
    /// Makes a table anew, because SQLite cannot change its constraints.
    private static let next = Migration(
        number: Schema.migrations.count + 1, rebuildsTables: true,
        sql: """
            CREATE TABLE new_team (
                id INTEGER NOT NULL,
                name TEXT NOT NULL,
                kind INTEGER NOT NULL CHECK (kind > 0),
                PRIMARY KEY (id),
                UNIQUE (name)
            ) STRICT;
            INSERT INTO new_team SELECT id, name, 7 FROM team;
            DROP TABLE team;
            ALTER TABLE new_team RENAME TO team;
            """)

    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    /// A database as this version leaves it: a user with an account and a refresh token, and one without account.
    private func makeThisVersion() async throws {
        try await file.use { database in
            _ = try await database.accounts.hold(1, key: .sample("known"), authorizedAt: 5000)
            _ = try await database.accounts.notify(
                .sample(key: .sample("unknown"), at: 2000, identifier: "jti-1"))
        }
    }

    @Test func `keeps all rows, and what refers to a table that is made anew`() async throws {
        try await makeThisVersion()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        try await queue.writeWithoutTransaction { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            func rows(_ table: String) throws -> [Row] {
                try Row.fetchAll(database, sql: "SELECT * FROM \(table)")
            }
            let others = tables.filter { $0 != "team" }
            let before = try others.map(rows)
            let count = Schema.migrations.count
            #expect(try Schema.migrate(database, Schema.migrations + [Self.next]) == (count, count + 1))
            #expect(try others.map(rows) == before)
            #expect(try Int.fetchAll(database, sql: "SELECT kind FROM team") == [7])
            #expect(try Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 1)
            #expect(throws: DatabaseError.self) { try database.execute(sql: "DELETE FROM team") }
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
        }
        // A program of this version.
        await #expect(throws: StorageError(.schemaTooNew, detail: "")) { try await file.open() }
    }

    @Test func `opens a database of the first schema with its tokens, by their rule`() async throws {
        let old = try TemporaryDatabase()
        try await file.use { database in
            try await database.accounts.link()
            try await database.accounts.refresh(.sample(at: 2_100_000))
        }
        let queue = try DatabaseQueue(path: old.path, configuration: .writing(patience: 1))
        try await queue.writeWithoutTransaction { [path = file.path] database in
            #expect(try Schema.migrate(database, [.first]) == (0, 1))
            try database.execute(sql: "PRAGMA foreign_keys = OFF; ATTACH '\(path)' AS made")
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            for table in tables {
                let columns = try String.fetchAll(
                    database, sql: "SELECT name FROM pragma_table_info('\(table)', 'main')"
                ).joined(separator: ", ")
                try database.execute(
                    sql: """
                        DELETE FROM main.\(table);
                        INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM made.\(table);
                        """)
            }
        }
        try queue.close()
        try await old.use { database in
            let status = try #require(try await database.accounts.status(ofFamily: .sample(1)))
            #expect(
                status.family.refreshToken?.exchanged == [
                    .init(digest: SampleToken(family: 1).digest, moment: 2_100_000, salt: nil)
                ])
            let again = try await database.accounts.refresh(.sample(salt: 3, at: 2_129_999))
            #expect(again.successor == SampleToken(family: 1).next(3).text)
            let later = try await database.accounts.refresh(.sample(salt: 4, at: 88_000_000))
            #expect(later.successor == again.successor)
            let pace = try #require(
                try await database.accounts.pace(of: status.grant.accountID, for: "phone"))
            #expect(pace.count == 1 && pace.families == 0)
        }
    }

    @Test func `leaves everything as it was when what refers to a table is broken`() async throws {
        try await makeThisVersion()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO credential (id, subject_id, app_id, key_check) VALUES (1, 77, 0, 5);
                    PRAGMA foreign_keys = ON;
                    """)
            #expect(throws: StorageError(.migrationFailed, detail: "")) {
                try Schema.migrate(database, Schema.migrations + [Self.next])
            }
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == Schema.migrations.count)
            #expect(try Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 1)
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM subject") == 2)
        }
    }

    @Test func `is read by the tools without a change`() async throws {
        try await makeThisVersion()
        let before = FileManager.default.contents(atPath: file.path)
        let reading = try SQLiteInspection(path: file.path)
        #expect(try await reading.schemaVersion() == Schema.migrations.count)
        #expect(SQLiteInspection.knownSchemaVersion == Schema.migrations.count)
        await reading.close()
        #expect(FileManager.default.contents(atPath: file.path) == before)
    }
}
