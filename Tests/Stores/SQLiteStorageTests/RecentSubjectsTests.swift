import AppleAccounts
import GRDB
import SQLTables
import StorageConformance
import TestSupport
import Testing

@testable import SQLiteStorage

@Suite struct RecentSubjectsTests {
    private func record(_ number: Int) -> SubjectRecord {
        SubjectRecord(key: .sample(AppleSubject(stringLiteral: "user-\(number)")), isStored: true)
    }

    private func place(_ number: Int) -> SubjectPlace {
        SubjectPlace(rowID: Int64(number), digest: KeyDigest(team: 1, name: "user-\(number)"))
    }

    private func rowID(of number: Int, in recent: inout RecentSubjects) -> Int64? {
        recent.find(record(number).key)?.place.rowID
    }

    @Test func `finds what it keeps, in its latest version`() {
        var recent = RecentSubjects(capacity: 2)
        #expect(rowID(of: 1, in: &recent) == nil)
        recent.keep(record(1), at: place(1))
        var changed = record(1)
        changed.profile.firstName = "Ada"
        recent.keep(changed, at: place(1))
        let found = recent.find(changed.key)
        #expect(found?.record == changed)
        #expect(found?.place == place(1))
        #expect(recent.count == 1)
        recent.removeAll()
        #expect(rowID(of: 1, in: &recent) == nil)
    }

    @Test func `makes room by those who did not come again`() {
        var recent = RecentSubjects(capacity: 3)
        for number in 1...3 { recent.keep(record(number), at: place(number)) }
        _ = recent.find(record(1).key)
        recent.keep(record(4), at: place(4))
        let rowIDs = (1...4).map { rowID(of: $0, in: &recent) }
        #expect(rowIDs == [1, nil, 3, 4])
        // All came again, and one goes all the same.
        recent.keep(record(5), at: place(5))
        #expect(recent.count == 3)
        #expect(rowID(of: 5, in: &recent) == 5)
    }

    @Test func `never has more than it has room for`() {
        var recent = RecentSubjects(capacity: 10)
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<1000 {
            let number = Int.random(in: 0..<40, using: &generator)
            if let rowID = rowID(of: number, in: &recent) { #expect(rowID == Int64(number)) }
            recent.keep(record(number), at: place(number))
            #expect(recent.count <= 10)
            #expect(rowID(of: number, in: &recent) == Int64(number))
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `what is kept is what the rows say`(seed: UInt64) throws {
        let file = try TemporaryDatabase()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        try queue.writeWithoutTransaction { database in
            _ = try Schema.migrate(database)
            let writer = try BatchWriter(database, sealing: SampleSealing(), keepingRecent: 2)
            let rows = try SubjectRows(Names(writes: false, in: database), in: database)
            var commands = RandomCommands(seed: seed)
            var kept = 0
            for _ in 0..<100 {
                _ = try writer.commitAccounts(commands.batch() + [.signIn(commands.signIn())])
                var recent = writer.recent
                for key in commands.keys {
                    guard let found = recent.find(key) else { continue }
                    let row = try #require(try rows.find(key))
                    #expect(found.record == row.record)
                    #expect(found.place == row.place)
                    kept += 1
                }
            }
            #expect(kept > 100)
        }
    }

    @Test(arguments: [
        "DELETE FROM credential; DELETE FROM event; DELETE FROM subject",
        "UPDATE subject SET first_name = 'Grace'",
    ])
    func `what another connection has written is read again`(sql: String) async throws {
        let file = try TemporaryDatabase()
        try await file.use { database in
            let store = database.accounts
            _ = try await store.signIn(.sample(firstName: "Ada"))
            try await DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: sql) }
            let outcome = try await store.signIn(.sample(authorizedAt: 2_000_000))
            #expect(try await store.account(.sample()) == outcome.account)
            #expect(outcome.account.profile.firstName == (sql.hasPrefix("DELETE") ? nil : "Grace"))
        }
    }
}

@Suite struct NonceTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `forgets used nonces in steps`() async throws {
        try await file.use { database in
            try await database.accounts.writer.run { database in
                try database.execute(
                    sql: """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
                        INSERT INTO used_nonce (digest, kept_until)
                        SELECT CAST(printf('%032d', i) AS BLOB), 9 FROM n
                        """)
            }
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await database.accounts.purgeNonces(expiredBefore: 10)) }
            #expect(counts == [1000, 1000, 500, 0])
        }
    }
}
