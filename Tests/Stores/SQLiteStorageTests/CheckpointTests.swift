import AppleAccounts
import Cryptography
import Foundation
import GRDB
import KeySets
import SQLTables
import StorageConformance
import Testing

@testable import SQLiteStorage

/// Moments at which the log is copied into the database file, and the largest size of the log.
@Suite struct CheckpointTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    /// Opens a database that a test can read between two transactions.
    private func use(_ body: (WriteConnection, SQLiteAccountStore) async throws -> Void) async throws {
        try await file.use { _ in }
        let lock = try await DatabaseFileLock.acquire(beside: file.path, patience: .zero)
        let writer = try WriteConnection(path: file.path, lock: lock)
        let reader = try ReadConnection(path: file.path)
        do {
            try await body(writer, SQLiteAccountStore(writer: writer, reader: reader, direct: []))
        } catch {
            Issue.record(error)
        }
        await reader.close()
        await writer.close()
    }

    private func size(_ suffix: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path + suffix)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    /// The size of a log with this many frames: each is a page with 24 bytes before it.
    private func log(of frames: Int) -> Int { 32 + frames * (4096 + 24) }

    private func newUsers(_ numbers: Range<Int>) -> [AccountCommand] {
        numbers.map { .signIn(.sample(key: .sample("user-\($0)"))) }
    }

    /// Commits, and returns the result of `look` after the commit. `look` runs on the queue of the
    /// checkpoints, so that no checkpoint runs meanwhile.
    private func commit<Value: Sendable>(
        _ commands: [AccountCommand], in writer: WriteConnection,
        thenFind look: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(commands, transaction: { try $0.commitAccounts($1) }) { result in
                continuation.resume(
                    with: Result {
                        _ = try result.get()
                        return try look()
                    })
            }
        }
    }

    @Test func `gives a batch its results before the checkpoint that it makes due`() async throws {
        try await use { writer, _ in
            var checkpoints = 0
            for number in 0..<300 {
                let before = try size()
                let atCompletion = try await commit(newUsers(number..<number + 1), in: writer) {
                    try size()
                }
                // Behind the batch on its queue, and with it behind its checkpoint.
                try await writer.run { _ in }
                // New users make the file grow, and only a checkpoint writes to it.
                let after = try size()
                #expect(atCompletion == before)
                checkpoints += after > before ? 1 : 0
            }
            #expect(checkpoints > 1)
        }
    }

    @Test func `has what it answered in its files before the checkpoint`() async throws {
        try await use { writer, _ in
            let copies = try (0..<20).map { _ in try TemporaryDatabase() }
            for (number, copy) in copies.enumerated() {
                try await commit(newUsers(number * 50..<(number + 1) * 50), in: writer) {
                    // As a crash at this instant leaves them.
                    for suffix in ["", "-wal"] {
                        try FileManager.default.copyItem(
                            atPath: file.path + suffix, toPath: copy.path + suffix)
                    }
                }
            }
            for (number, copy) in copies.enumerated() {
                let last = try await copy.use {
                    try await $0.accounts.account(.sample("user-\(number * 50 + 49)"))
                }
                #expect(last != nil)
            }
        }
    }

    @Test func `keeps the log short while batches are written`() async throws {
        try await use { writer, store in
            for number in 0..<600 { _ = try await store.commit(newUsers(number..<number + 1)) }
            try await writer.run { _ in }
            // One sign-in of a new user writes far fewer pages than this.
            let longest = log(of: LogLength.longest + 40)
            #expect(try size("-wal") <= longest)
        }
    }

    @Test func `keeps the log short while other calls write`() async throws {
        try await use { writer, store in
            for number in 0..<900 {
                let digest = TicketDigest(.hash(Array("ticket \(number)".utf8)))
                _ = try await store.insertTicket(
                    Ticket(digest: digest, purpose: .webState, payload: [1], expiresAt: 1))
            }
            _ = try await store.purgeTickets(expiredBefore: 2)
            try await writer.run { _ in }
            let longest = log(of: LogLength.longest + 100)
            #expect(try size("-wal") <= longest)
        }
    }

    @Test func `keeps the log short while commands of a refused batch are written one by one`() async throws {
        try await use { writer, store in
            let oversized = NotificationCommand.sample(
                key: .sample("poison"), payload: String(repeating: "x", count: 70_000))
            let result = try await store.commit([.notification(oversized)] + newUsers(0..<511))
            #expect(result.results[0] == .failed(StorageError(.valueRefused, detail: "")))
            try await writer.run { _ in }
            let longest = log(of: LogLength.longest + 40)
            #expect(try size("-wal") <= longest)
        }
    }

    @Test func `lets the log grow while a reader needs it, and empties it afterwards`() async throws {
        try await use { writer, store in
            _ = try await store.commit(newUsers(0..<10))
            let reading = try DatabaseQueue(path: file.path, configuration: .reading())
            try await reading.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM subject")
            }
            for number in 10..<200 { _ = try await store.commit(newUsers(number..<number + 1)) }
            try await writer.run { _ in }
            let whileRead = try size("-wal")
            #expect(whileRead > log(of: 2 * LogLength.longest))
            let seen = try await reading.writeWithoutTransaction { database in
                let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM subject")
                try database.execute(sql: "COMMIT")
                return count
            }
            #expect(seen == 10)
            try reading.close()

            // The next commit finds the reader gone, and the one after it writes from the begin of the log.
            _ = try await store.commit(newUsers(200..<201))
            _ = try await store.commit(newUsers(201..<202))
            let length = try await writer.run { try $0.checkpoint(.passive).walFrameCount }
            #expect(length < 40)
        }
    }
}

@Suite struct LogLengthTests {
    /// An empty log.
    private func empty() -> LogLength {
        var length = LogLength()
        length.checkpointEnded(total: 0, copied: 0)
        return length
    }

    @Test func `asks for a checkpoint at once, because an earlier process may have left a long log`() {
        #expect(LogLength().isCheckpointDue)
    }

    @Test func `asks for a checkpoint from its longest on`() {
        var length = empty()
        length.append(LogLength.longest - 1)
        #expect(!length.isCheckpointDue)
        length.append(1)
        #expect(length.isCheckpointDue)
        length.checkpointEnded(total: LogLength.longest, copied: LogLength.longest)
        #expect(length == empty())
    }

    @Test func `goes on asking while a reader keeps frames in the log`() {
        var length = empty()
        length.append(1000)
        length.checkpointEnded(total: 1000, copied: 999)
        #expect(length.isCheckpointDue)
        length.append(1)
        length.checkpointEnded(total: 1001, copied: 1001)
        #expect(length == empty())
    }
}

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
