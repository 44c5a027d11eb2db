import AppleAccounts
import Foundation
import GRDB
import KeySets
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct DurabilityTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `finds everything after it was closed and opened`() async throws {
        let outcome = try await file.use { database in
            try await database.accounts.notify(.sample(key: .sample("unknown"), at: 500))
            _ = try await database.accounts.nonceKey(offering: .sample(1))
            return try await database.accounts.signIn(.sample(firstName: "Ada", nonce: .sample()))
        }
        try await file.use { database in
            #expect(try await database.accounts.account(outcome.account.id) == outcome.account)
            #expect(try await database.accounts.allEvents().count == 3)
            #expect(
                try await database.accounts.notify(.sample(key: .sample("unknown"), at: 500)) == .duplicate)
            await #expect(throws: AccountRefusal(.nonceUsed)) {
                try await database.accounts.signIn(.sample(nonce: .sample()))
            }
            #expect(try await database.accounts.nonceKey(offering: .sample(2)) == .sample(1))
            let next = try await database.accounts.commit([.signIn(.sample(key: .sample("new")))])
            #expect(next.lastEventSequence == 5)
        }
    }

    /// Otherwise a revocation would wait for half a minute after a crash.
    @Test func `a receiver that a process held when it died is free at the next start`() async throws {
        let names: [ReceiverName] = ["backend", "billing"]
        let now = Moment(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let end = now.advanced(byMilliseconds: 3_600_000)
        try await file.use { database in
            try await database.accounts.addReceivers(names, at: 1000)
            try await database.accounts.signIn(.sample())
            let claimed = try await database.accounts.claimReceivers(
                ["backend"], at: 2000, leaseUntil: end)
            #expect(claimed.count == 1)
            #expect(try await database.accounts.nextReceiverDue(["backend"]) == end)
        }
        try await file.use { database in
            // The time of the last poll of a receiver that polls stays.
            let stored = try await database.accounts.receivers().map(\.record)
            #expect(stored.map(\.notBefore.milliseconds).last == 1000)
            let claimed = try await database.accounts.claimReceivers(names, at: end, leaseUntil: end)
            #expect(claimed.map(\.record.claims) == [2, 1])
            #expect(try #require(stored.first).notBefore < end)
        }
    }

    /// A commit with a response is in the synced log file: a copy that is taken without closing has the
    /// commit.
    @Test func `has every answered commit in its files at once`() async throws {
        try await file.use { database in
            let outcome = try await database.accounts.signIn(.sample())
            let copy = try TemporaryDatabase()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy.path + suffix)
            }
            let found = try await copy.use { try await $0.accounts.account(outcome.account.id) }
            #expect(found == outcome.account)
        }
    }

    @Test func `ends the claims of a process that is gone, and says that they were cut off`() async throws {
        try await file.use { database in
            let signIn = SignInCommand.sample(authorizationCode: .sample(1), receivedAt: 1000)
            try await database.accounts.signIn(signIn)
            let claimed = try await database.accounts.claimCodes(limit: 9, at: 1000, leaseUntil: 9000)
            #expect(claimed.map(\.isInterrupted) == [false])
        }
        try await file.use { database in
            let claimed = try await database.accounts.claimCodes(limit: 9, at: 1001, leaseUntil: 9000)
            #expect(claimed.map(\.isInterrupted) == [true])
        }
    }

    @Test func `writes with a write-ahead log that is synced at each commit`() async throws {
        let lock = try await DatabaseFileLock.acquire(beside: file.path, patience: .zero)
        let writer = try WriteConnection(path: file.path, lock: lock)
        let settings = try await writer.run { database in
            try ["journal_mode", "synchronous", "foreign_keys", "fullfsync"].map {
                try String.fetchOne(database, sql: "PRAGMA \($0)") ?? ""
            }
        }
        #expect(settings == ["wal", "2", "1", "1"])
        await writer.close()
    }

    @Test func `keeps its file to its own user`() async throws {
        try await file.use { database in
            try await database.accounts.signIn(.sample())
            for suffix in ["", "-wal", "-shm", ".lock"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path + suffix)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(suffix)")
            }
        }
    }

    @Test func `keeps the last good key set`() async throws {
        let first = KeySetSnapshot(body: Array("{}".utf8), entityTag: "\"1\"", fetchedAt: 1, freshUntil: 2)
        let second = KeySetSnapshot(body: [0, 255, 34], entityTag: nil, fetchedAt: 3, freshUntil: 4)
        try await file.use { database in
            #expect(try await database.keySetSnapshots.load() == nil)
            try await database.keySetSnapshots.save(first)
            #expect(try await database.keySetSnapshots.load() == first)
            try await database.keySetSnapshots.save(second)
        }
        let found = try await file.use { try await $0.keySetSnapshots.load() }
        #expect(found == second)
    }
}
