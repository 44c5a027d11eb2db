import AppleAccounts
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct CredentialPlaceTests {
    /// Two subjects whose digests both begin with 5dcd24e09436 in the first team of a database: one pair
    /// among forty million.
    private static let neighbours: [AppleSubject] = ["person-10868600", "person-20501632"]
    /// Two subjects of which the tombstone of the first and the digest of the second begin with 3329cc2a6413.
    private static let tombstoneAndNeighbour: [AppleSubject] = ["person-72250", "person-14216002"]

    private let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `knows two users whose credentials may have the same numbers`() throws {
        let digests = Self.neighbours.map { KeyDigest(team: 1, name: $0.rawValue) }
        #expect(digests[0].credentialIDs == digests[1].credentialIDs)
        #expect(digests[0].check != digests[1].check)
        let tombstone = SubjectKey.sample(Self.tombstoneAndNeighbour[0]).tombstoneName
        #expect(
            KeyDigest(team: 1, name: tombstone).credentialIDs
                == KeyDigest(team: 1, name: Self.tombstoneAndNeighbour[1].rawValue).credentialIDs)
    }

    @Test(arguments: [neighbours, tombstoneAndNeighbour])
    func `keeps them apart, whatever happens to them`(users: [AppleSubject]) async throws {
        try await file.use { _ in }
        try await write("INSERT INTO team (id, name) VALUES (1, 'A1B2C3D4E5')")
        let check = ConformanceCheck.doesAsTheReference(subjects: users)
        try await file.use { try await check.run($0.accounts) }
        // The number in the digests.
        #expect(try await read("SELECT id FROM team WHERE name = 'A1B2C3D4E5'") == [1])
        #expect(try await file.misplacedCredentials() == [])
    }

    @Test func `takes no user for the tombstone of another`() async throws {
        try await file.use { database in
            let (user, neighbour) = (Self.tombstoneAndNeighbour[0], Self.tombstoneAndNeighbour[1])
            try await database.accounts.notify(.sample(.appleAccountDeleted, key: .sample(neighbour)))
            let states = try await database.accounts.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: [user, neighbour])
            #expect(states.map(\.state) == [.notFound, .revoked])
        }
    }

    @Test func `counts on behind the last credential of both`() async throws {
        try await file.use { database in
            for (moment, subject) in Self.neighbours.enumerated() {
                for clientID in ["com.example.app", "com.example.other"] as [ClientID] {
                    try await database.accounts.signIn(
                        .sample(
                            key: .sample(subject), clientID: clientID,
                            authorizedAt: Moment(milliseconds: Int64(moment + 1) * 1000)))
                }
            }
            // Of another user, who has the highest number.
            let last = NotificationCommand.sample(key: .sample("s1"), at: 3000)
            try await database.accounts.notify(last)
        }
        #expect(
            try await read("SELECT id & 65535 FROM credential WHERE id >> 16 = 0x5dcd24e09436") == [
                0, 1, 2, 3,
            ])
        #expect(try await file.misplacedCredentials() == [])
    }

    @Test func `answers no sign-in whose row is not where it should be`() async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        try await write("UPDATE credential SET key_check = key_check + 1")
        try await file.use { database -> Void in
            await #expect(throws: StorageError(.corrupted, detail: "")) {
                _ = try await database.accounts.signIn(.sample(authorizedAt: 2_000_000))
            }
            // The next one too: it is not the memory of the last that is asked.
            await #expect(throws: StorageError(.corrupted, detail: "")) {
                _ = try await database.accounts.signIn(.sample(authorizedAt: 3_000_000))
            }
        }
    }

    private static let byNumber = "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"

    @Test(arguments: [
        (CredentialRows.Selection().sql, ["SEARCH credential USING \(byNumber)"]),
        (
            SubjectRows.Selection().byKey,
            ["SEARCH s USING INDEX subject_by_key (key_digest=?)", "SEARCH c USING \(byNumber) LEFT-JOIN"]
        ),
        (
            SubjectRows.Selection().byAccount,
            [
                "SEARCH s USING INDEX sqlite_autoindex_subject_1 (account_id=?)",
                "SEARCH c USING \(byNumber) LEFT-JOIN",
            ]
        ),
    ])
    func `reads credentials by their numbers and no index`(selection: String, steps: [String]) async throws {
        try await file.use { _ in }
        let plan = try await DatabaseQueue(path: file.path, configuration: .reading()).read { database in
            let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + selection)
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0["detail"] as String }
        }
        #expect(plan == steps)
    }

    private func read(_ sql: String) async throws -> [Int64] {
        try await DatabaseQueue(path: file.path, configuration: .reading()).read { database in
            try Int64.fetchAll(database, sql: sql)
        }
    }

    private func write(_ sql: String) async throws {
        try await DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: sql) }
    }
}
