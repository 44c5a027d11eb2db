import AppleAccounts
import AuthorizationServer
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

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
