import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

/// Reads of the operator's tools while the service runs.
@Suite struct ReadingBesideTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `reads while the service has the file, and sees its commits`() async throws {
        try await file.use { database in
            let account = try await database.accounts.hold(1)
            let reading = try SQLiteInspection(path: file.path)
            #expect(try await reading.schemaVersion() == Schema.migrations.count)
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
            #expect(try await reading.sealedSecrets(after: nil, limit: 9).count == 2)
            #expect(try await reading.primaryClientIDs() == ["com.example.app"])
            await reading.close()
        }
    }

    @Test func `reads when no service has the file, and leaves it to the next`() async throws {
        let account = try await file.use { try await $0.accounts.hold(1) }
        let reading = try SQLiteInspection(path: file.path)
        #expect(try await reading.sealedSecrets(after: nil, limit: 9).map(\.accountID) == [account.id])
        await reading.close()
        let found = try await file.use { try await $0.accounts.account(account.id) }
        #expect(found == account)
    }

    @Test func `refuses a file that is not there, and makes none`() {
        #expect(throws: StorageError(.unavailable, detail: "")) {
            try SQLiteInspection(path: file.path)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `tells a database of another program and one of a newer version`() async throws {
        try await DatabaseQueue(path: file.path).writeWithoutTransaction {
            try $0.execute(sql: "CREATE TABLE someone (id INTEGER)")
        }
        let foreign = try SQLiteInspection(path: file.path)
        #expect(try await foreign.schemaVersion() == nil)
        await foreign.close()
        let newer = try TemporaryDatabase()
        try await newer.use { _ in }
        try await DatabaseQueue(path: newer.path).writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA user_version = 99")
        }
        let later = try SQLiteInspection(path: newer.path)
        #expect(try await later.schemaVersion() == 99)
        await later.close()
    }
}
