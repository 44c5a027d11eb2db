import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct MigrationTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    /// Makes a database of version 1: a user with an account, a user without an account, and the events of
    /// both.
    private func makeFirstVersion() throws {
        try DatabaseQueue(path: file.path).writeWithoutTransaction { database in
            _ = try Schema.migrate(database, [.first])
            try database.execute(
                sql: """
                    INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5');
                    INSERT INTO app (id, name) VALUES (1, 'com.example.app');
                    INSERT INTO subject (id, team_id, sub, account_id, created_at, email, email_is_verified,
                        email_is_private, email_at, first_name)
                    VALUES (1, 1, 'known', x'0193a5e07c007abc8def0123456789ab', 1000, 'a@example.com', 1, 0,
                        1000, 'Ada'), (2, 1, 'unknown', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
                    INSERT INTO credential (subject_id, app_id, authorized_at, authorized_source, revoked_at,
                        revoked_reason, revoked_source, last_sign_in_at, email_at)
                    VALUES (1, 1, 1000, 1, NULL, NULL, NULL, 1001, 1000),
                        (2, 1, NULL, NULL, 2000, 2, 2, NULL, NULL), (2, 0, NULL, NULL, 3000, 3, 2, NULL, NULL);
                    INSERT INTO notification (id, identifier, app_id, receipt, payload, received_at)
                    VALUES (1, 'jti-1', 1, 1, 'a.b.c', 2001);
                    INSERT INTO notification_event (app_id, sub, type, event_time, notification_id)
                    VALUES (1, 'unknown', 'consent-revoked', 2000, 1);
                    INSERT INTO event (id, kind, subject_id, account_id, app_id, reason, source, moment,
                        recorded_at)
                    VALUES (x'0193a5e07c007abc8def0123456789a1', 1, 1, x'0193a5e07c007abc8def0123456789ab',
                        NULL, NULL, 1, 1000, 1001),
                        (x'0193a5e07c007abc8def0123456789a2', 3, 2, NULL, 1, 2, 2, 2000, 2001);
                    """)
        }
    }

    @Test func `keeps everything that the first version knew`() async throws {
        try makeFirstVersion()
        try await file.use { database in
            let store = database.accounts
            let known = try #require(try await store.account(.sample("known")))
            #expect(known.id.rawValue == "acc_0193a5e0-7c00-7abc-8def-0123456789ab")
            #expect(known.email == "a@example.com")
            #expect(known.profile.firstName == "Ada")
            #expect(known.credentials.map(\.state) == [.authorized])
            #expect(known.credentials.map(\.refreshToken) == [nil])
            let unknown = try await store.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: ["unknown"])
            #expect(unknown.map(\.reason) == [.appleAccountDeleted])
            let events = try await store.allEvents()
            #expect(events.map(\.subject) == ["known", "unknown"])
            #expect(events.map(\.sequence) == [1, 2])
            let again = NotificationCommand.sample(key: .sample("unknown"), at: 2000, identifier: "jti-2")
            #expect(try await store.notify(again) == .duplicate)

            // And it goes on as any other.
            let account = try await store.hold(1, key: .sample("known"), authorizedAt: 5000)
            #expect(account.id == known.id)
            try await store.erase(.sample(account: account, at: 9000))
            #expect(try await store.allEvents().prefix(2).map(\.subject) == [nil, "unknown"])
        }
    }

    @Test func `knows of an older address only that a relay is one`() async throws {
        try makeFirstVersion()
        let addresses = [
            "a@example.com", "b@PrivateRelay.appleid.com", "c@private.icloud.com",
            "d@x.privaterelay.appleid.com",
            "e@example.com",
        ]
        try await DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
            .writeWithoutTransaction { database in
                _ = try Schema.migrate(database, [.first, .second])
                for (index, address) in addresses.enumerated() {
                    try database.execute(
                        sql: """
                            INSERT INTO subject (id, team_id, sub, account_id, created_at, email, email_is_verified,
                                email_is_private, email_at)
                            VALUES (?, 1, ?, randomblob(16), 1000, ?, 1, ?, 1000)
                            """,
                        arguments: [10 + index, "person-\(index)", address, address.hasPrefix("e") ? 1 : 0])
                }
            }
        try await file.use { database in
            for (index, isPrivate) in [nil, true, true, nil, true].enumerated() {
                let key = SubjectKey.sample("person-\(index)")
                let account = try #require(try await database.accounts.account(key))
                #expect(account.email == addresses[index])
                #expect(account.isPrivateEmail == isPrivate)
            }
        }
    }

    @Test func `gives each person the digest that finds them, and none twice`() async throws {
        try makeFirstVersion()
        try await DatabaseQueue(path: file.path).writeWithoutTransaction { database in
            _ = try Schema.migrate(database, [.first, .second])
            try database.execute(
                sql: """
                    INSERT INTO team (id, name) VALUES (2, 'OTHERTEAM1');
                    INSERT INTO subject (id, team_id, sub) VALUES (3, 2, 'unknown'), (9, 1, char(1) || 9);
                    """)
        }
        try await file.use { _ in }
        try await DatabaseQueue(path: file.path).writeWithoutTransaction { database in
            let rows = try Row.fetchAll(database, sql: "SELECT id, team_id, sub, key_digest FROM subject")
            #expect(rows.map { $0["id"] as Int } == [1, 2, 3, 9])
            for row in rows {
                #expect(row["key_digest"] as Data == KeyDigest(team: row["team_id"], name: row["sub"]).data)
            }
            try database.checkForeignKeys()
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM credential") == 3)
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
            // What hangs on the table that was made anew hangs on it still.
            #expect(throws: DatabaseError.self) { try database.execute(sql: "DELETE FROM subject") }
        }
    }

    @Test(arguments: [0x8000_0000_0000, 0xf000_0000_0000, 0xffff_ffff_ffff, 0, 1, 0x7fff_ffff_ffff])
    func `puts the credentials where the digests of their people say`(beginning: UInt64) async throws {
        try makeFirstVersion()
        try await DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
            .writeWithoutTransaction { database in
                _ = try Schema.migrate(database, [.first, .second, .third])
                // As if both digests began the same.
                let digests = [
                    UniqueID(high: beginning << 16 | 0xaaaa, low: 1),
                    UniqueID(high: beginning << 16 | 0xbbbb, low: .max),
                ]
                try database.execute(
                    sql: """
                        UPDATE subject SET key_digest = CASE id WHEN 1 THEN ? ELSE ? END;
                        UPDATE credential SET refresh_token = 3, refresh_token_cause = 4 WHERE subject_id = 1;
                        """,
                    arguments: [digests[0].data, digests[1].data])
                let before = try Row.fetchAll(
                    database, sql: "SELECT * FROM credential ORDER BY subject_id, app_id")
                _ = try Schema.migrate(database)
                let ids = try Int64.fetchAll(database, sql: "SELECT id FROM credential ORDER BY id")
                #expect(ids == (0...2).map { Int64(bitPattern: beginning << 16) + $0 })
                let checks = try Int64.fetchAll(database, sql: "SELECT key_check FROM credential ORDER BY id")
                #expect(checks == [1, -1, -1])
                let columns = before[0].columnNames.joined(separator: ", ")
                let after = try Row.fetchAll(
                    database, sql: "SELECT \(columns) FROM credential ORDER BY subject_id, app_id")
                #expect(before == after)
                #expect(throws: DatabaseError.self) {
                    try database.execute(
                        sql: "INSERT INTO credential (subject_id, app_id, key_check) VALUES (2, 0, -1)")
                }
            }
    }

    @Test(arguments: [2, 3])
    func `leaves everything as it was when what hangs on a table is broken`(version: Int) async throws {
        try makeFirstVersion()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        try await queue.writeWithoutTransaction { database in
            _ = try Schema.migrate(database, Array(Schema.migrations.prefix(version)))
            try database.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO credential (subject_id, app_id) VALUES (77, 0);
                    PRAGMA foreign_keys = ON;
                    """)
            #expect(throws: StorageError(.migrationFailed, detail: "")) { try Schema.migrate(database) }
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == version)
            #expect(try Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 1)
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM subject") == 2)
        }
    }

    @Test func `is read by the tools before it is migrated, and not changed`() async throws {
        try makeFirstVersion()
        let before = FileManager.default.contents(atPath: file.path)
        let reading = try SQLiteInspection(path: file.path)
        #expect(try await reading.schemaVersion() == 1)
        #expect(SQLiteInspection.knownSchemaVersion == Schema.migrations.count)
        await reading.close()
        #expect(FileManager.default.contents(atPath: file.path) == before)
    }
}
