import AppleAccounts
import GRDB
import Logging
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
        // The refusal has let go of the file.
        try execute("PRAGMA user_version = \(Schema.migrations.count)")
        try await file.use { _ in }
    }

    @Test func `refuses a database of another program`() async throws {
        try execute("CREATE TABLE someone (id INTEGER); INSERT INTO someone VALUES (1)")
        await #expect(throws: StorageError(.migrationFailed, detail: "")) { try await file.open() }
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
