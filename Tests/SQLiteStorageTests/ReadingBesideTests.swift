import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

/// What the operator's tools read beside the service.
@Suite struct ReadingBesideTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `reads while the service has the file, and sees its commits`() async throws {
        try await file.use { database in
            let account = try await database.accounts.hold(1)
            let reading = try SQLiteDatabase.openForReading(path: file.path)
            #expect(reading.schemaVersion == Schema.migrations.count)
            func accounts(after: AccountID?) async throws -> [TransferableAccount] {
                try await reading.accounts(
                    team: "A1B2C3D4E5", clientID: "com.example.app", after: after, limit: 1)
            }
            #expect(try await accounts(after: nil).map(\.accountID) == [account.id])
            #expect(try await accounts(after: account.id).isEmpty)
            let later = try await database.accounts.hold(
                2, key: .sample("later"), authorizedAt: 2_000_000)
            #expect(try await accounts(after: account.id).map(\.accountID) == [later.id])
            #expect(
                try await reading.sealedSecrets(after: nil, limit: 1).map(\.sealed) == [.sample("token 1")])
            #expect(try await reading.sealedCount() == 2)
            reading.close()
        }
    }

    @Test func `reads when no service has the file, and leaves it to the next`() async throws {
        let account = try await file.use { try await $0.accounts.hold(1) }
        let reading = try SQLiteDatabase.openForReading(path: file.path)
        #expect(try await reading.sealedSecrets(after: nil, limit: 9).map(\.accountID) == [account.id])
        reading.close()
        let found = try await file.use { try await $0.accounts.account(account.id) }
        #expect(found == account)
    }

    @Test func `refuses a file that is not there, and makes none`() {
        #expect(throws: StorageError(.unavailable, detail: "")) {
            try SQLiteDatabase.openForReading(path: file.path)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `refuses a database of another program or of a newer version`() async throws {
        try await DatabaseQueue(path: file.path).writeWithoutTransaction {
            try $0.execute(sql: "CREATE TABLE someone (id INTEGER)")
        }
        #expect(throws: StorageError(.migrationFailed, detail: "")) {
            try SQLiteDatabase.openForReading(path: file.path)
        }
        let newer = try TemporaryDatabase()
        try await newer.use { _ in }
        try await DatabaseQueue(path: newer.path).writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA user_version = 99")
        }
        #expect(throws: StorageError(.schemaTooNew, detail: "")) {
            try SQLiteDatabase.openForReading(path: newer.path)
        }
    }
}
