import AppleAccounts
import Cryptography
import Foundation
import GRDB
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
