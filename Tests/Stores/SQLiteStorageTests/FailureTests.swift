import AppleAccounts
import Foundation
import GRDB
import Logging
import StorageConformance
import Synchronization
import Testing

@testable import SQLiteStorage

/// Behaviour when the disk or another program prevents writes, and afterwards.
@Suite struct FailureTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `lets a command whose value no row takes fail alone`() async throws {
        try await file.use { database in
            let oversized = NotificationCommand.sample(
                key: .sample("poison"), payload: String(repeating: "x", count: 70_000))
            let result = try await database.accounts.commit([
                .signIn(.sample(key: .sample("one"))), .notification(oversized),
                .signIn(.sample(key: .sample("two"))),
            ])
            #expect(result.results[1] == .failed(StorageError(.valueRefused, detail: "")))
            #expect(try await database.accounts.account(.sample("one")) != nil)
            #expect(try await database.accounts.account(.sample("two")) != nil)
            let records = try await database.accounts.credentials(
                team: "A1B2C3D4E5", clientID: "com.example.app", subjects: ["poison"])
            #expect(records.map(\.state) == [.notFound])
            #expect(try await database.accounts.allEvents().count == 4)
            #expect(result.lastEventSequence == 4)
            // It says nothing about the database's health.
            try await database.accounts.checkHealth()
            // It was not taken for delivered.
            let mended = NotificationCommand.sample(key: .sample("poison"))
            #expect(try await database.accounts.notify(mended) == .applied)
        }
    }

    @Test func `fails a whole batch when the database is full, and recovers`() async throws {
        let lock = try await DatabaseFileLock.acquire(beside: file.path, patience: .zero)
        let writer = try WriteConnection(path: file.path, lock: lock)
        _ = try await writer.run { try Schema.migrate($0) }
        let store = SQLiteAccountStore(
            writer: writer, reader: try ReadConnection(path: file.path),
            direct: [])
        let known = try await store.signIn(.sample())
        try await writer.run { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let batch = (0..<500).map { AccountCommand.signIn(.sample(key: .sample("user-\($0)"))) }
        await #expect(throws: StorageError(.full, detail: "")) { try await store.commit(batch) }
        #expect(writer.lastFailure?.code == .full)
        #expect(try await store.account(.sample("user-0")) == nil)
        #expect(try await store.account(.sample()) == known.account)
        #expect(try await store.allEvents().count == 2)

        try await writer.run { try $0.execute(sql: "PRAGMA max_page_count = 1073741823") }
        let result = try await store.commit(batch)
        #expect(result.lastEventSequence == 1002)
        #expect(writer.lastFailure == nil)
        #expect(try await store.account(.sample("user-499")) != nil)
    }

    @Test func `is unhealthy after a failed write until one goes well`() async throws {
        try await file.use { _ in }
        let lock = try await DatabaseFileLock.acquire(beside: file.path, patience: .zero)
        let writer = try WriteConnection(path: file.path, lock: lock, patience: 0.01)
        let store = SQLiteAccountStore(
            writer: writer, reader: try ReadConnection(path: file.path), direct: [])
        try await store.signIn(.sample())
        try await store.checkHealth()

        // Another program holds the file for longer than a caller waits.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let intruder = try DatabaseQueue(path: file.path, configuration: configuration)
        try await intruder.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StorageError(.busy, detail: "")) {
            try await store.signIn(.sample(key: .sample("late")))
        }
        await #expect(throws: StorageError(.busy, detail: "")) { try await store.checkHealth() }
        #expect(try await store.account(.sample()) != nil)

        try await intruder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try intruder.close()
        try await store.checkHealth()
        #expect(try await store.signIn(.sample(key: .sample("late"))).isNewAccount)
    }

    @Test func `fails after it was closed, without stopping the process`() async throws {
        let database = try await file.open()
        await database.close()
        await #expect(throws: StorageError.self) { try await database.accounts.signIn(.sample()) }
        await #expect(throws: StorageError.self) { try await database.accounts.account(.sample()) }
        await #expect(throws: StorageError.self) { try await database.accounts.checkHealth() }
    }

    @Test func `gives a read its own failure and serves the next`() async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        let failures = Mutex(0)
        let reader = try ReadConnection(path: file.path) { _ in failures.withLock { $0 += 1 } }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do {
                        return try await reader.read { rows in
                            if number % 2 == 0 { throw DatabaseError(resultCode: .SQLITE_IOERR) }
                            return try rows.subjects.find(.sample()) != nil
                        }
                    } catch {
                        return (error as? StorageError)?.code == .unavailable && number % 2 == 0
                    }
                }
            }
            for try await isAsExpected in group { #expect(isAsExpected) }
        }
        #expect(failures.withLock { $0 } == 20)
        await reader.close()
    }

    @Test(
        arguments: [
            (.SQLITE_BUSY_SNAPSHOT, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_FULL, .full),
            (.SQLITE_READONLY_DBMOVED, .readOnly), (.SQLITE_CORRUPT_VTAB, .corrupted),
            (.SQLITE_NOTADB, .corrupted), (.SQLITE_IOERR_FSYNC, .unavailable),
            (.SQLITE_CANTOPEN, .unavailable),
            (.SQLITE_CONSTRAINT_CHECK, .valueRefused), (.SQLITE_TOOBIG, .valueRefused),
            (.SQLITE_NOMEM, .unavailable), (.SQLITE_MISUSE, .unavailable),
        ] as [(ResultCode, StorageError.Code)])
    func `says what a result code means`(code: ResultCode, expected: StorageError.Code) {
        #expect(StorageError(DatabaseError(resultCode: code)).code == expected)
    }

    @Test func `never shows values`() async throws {
        try await file.use { database in
            let oversized = NotificationCommand.sample(payload: String(repeating: "secret", count: 20_000))
            let result = try await database.accounts.commit([.notification(oversized)])
            guard case .failed(let error) = result.results[0] else {
                Issue.record("found \(result.results[0])")
                return
            }
            #expect(!error.debugDescription.contains("secret"))
            #expect(!error.debugDescription.contains("0123456789abcdef"))
        }
    }
}

/// Log lines while some transactions fit on the disk and others do not.
@Suite struct WriteTroubleTests {
    let start = ContinuousClock.now
    let full = StorageError(.full, detail: "")
    var trouble = WriteTrouble()

    @Test mutating func `a minute of a thousand alternations a second writes a dozen lines`() {
        var lines = 0
        for step in 0..<60_000 {
            let now = start + .milliseconds(step)
            let line =
                step % 2 == 0
                ? trouble.failed(StorageError(.busy, detail: ""), at: now)
                : trouble.succeeded(at: now) { true }
            lines += line == nil ? 0 : 1
        }
        #expect(lines <= 12)
    }

    @Test mutating func `a full disk is full until it has room, whatever still fits`() {
        #expect(trouble.failed(full, at: start) == .isFailing(full))
        #expect(trouble.succeeded(at: start) { false } == nil)
        #expect(trouble.failure == full)
        #expect(trouble.succeeded(at: start) { true } == .isOver)
        #expect(trouble.failure == nil)
    }

    @Test mutating func `a failure that could not be logged at once is logged later`() {
        #expect(trouble.failed(full, at: start) == .isFailing(full))
        #expect(trouble.succeeded(at: start) { true } == .isOver)
        #expect(trouble.failed(full, at: start + .seconds(1)) == nil)
        #expect(trouble.line(at: start + .seconds(9)) == nil)
        #expect(trouble.line(at: start + .seconds(10)) == .isFailing(full))
        #expect(trouble.line(at: start + .seconds(11)) == nil)
    }

    #if os(Linux)
        @Test func `a database that cannot be made where there is no room is called full`() async throws {
            // A file system without a single free block.
            #expect(DiskSpace.isExhausted(at: "/proc/siwa.sqlite"))
            #expect(try !DiskSpace.isExhausted(at: TemporaryDatabase().path))
            await #expect(throws: StorageError(.full, detail: "")) {
                _ = try await SQLiteDatabase.open(
                    path: "/proc/siwa.sqlite", patience: .zero, logger: Logger(label: "test"))
            }
        }
    #endif
}

/// The numbers are in existing databases: a change would break them.
@Suite struct StorageCodeTests {
    @Test func `never change`() {
        #expect(
            codes(of: CredentialReason.self) == [
                "signed_in": 1, "consent_revoked": 2, "apple_account_deleted": 3, "refresh_token_rejected": 4,
                "erased": 5,
            ])
        #expect(
            codes(of: CredentialSource.self) == [
                "sign_in": 1, "notification": 2, "daily_check": 3, "erasure": 4,
            ])
        #expect(codes(of: EmailForwarding.self) == ["enabled": 1, "disabled": 2, "unknown": 3])
        #expect(
            codes(of: NotificationReceipt.self) == [
                "applied": 1, "duplicate": 2, "unknown_type": 3, "unchanged": 4,
            ])
        #expect(
            codes(of: AccountEvent.Kind.self) == [
                "account_created": 1, "credential_authorized": 2, "credential_revoked": 3, "email_changed": 4,
                "email_forwarding_changed": 5, "profile_changed": 6, "account_deleted": 7,
                "account_erased": 8,
                "account_transferred": 9, "grant_created": 10, "grant_revoked": 11,
                "account_disabled": 12, "account_enabled": 13, "sessions_ended": 14,
                "token_revoked": 15,
            ])
        #expect(
            codes(of: GrantEndReason.self) == [
                "unlinked": 1, "client_revoked": 2, "token_reused": 3, "replaced": 4, "google_revoked": 5,
                "consent_revoked": 6, "apple_account_deleted": 7, "erased": 8,
                "signed_out": 9,
            ])
        #expect(
            codes(of: Disabling.Reason.self) == [
                "abuse": 1, "fraud": 2, "security": 3, "payment": 4, "legal": 5, "requested": 6, "other": 7,
            ])
        #expect(
            codes(of: GoogleEventKind.self) == [
                "sessions-revoked": 1, "tokens-revoked": 2, "token-revoked": 3, "account-disabled": 4,
                "account-enabled": 5, "account-credential-change-required": 6, "verification": 7, "other": 8,
            ])
        #expect(codes(of: GoogleEventReason.self) == ["hijacking": 1, "bulk-account": 2])
    }

    @Test func `refuse numbers that they do not know`() {
        #expect(throws: StorageError(.corrupted, detail: "")) { try CredentialReason(storageCode: 99) }
    }

    private func codes<Code: StorageCode & RawRepresentable<String>>(of _: Code.Type) -> [String: Int64] {
        Dictionary(uniqueKeysWithValues: Code.allCases.map { ($0.rawValue, $0.storageCode) })
    }
}
