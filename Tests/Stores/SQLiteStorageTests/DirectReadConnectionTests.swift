import AppleAccounts
import Foundation
import GRDB
import SQLTables
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct DirectReadConnectionTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `sees each commit that was answered`() async throws {
        try await file.use { database in
            let connection = try DirectReadConnection(path: file.path, longestRead: .seconds(60))
            for number in 0..<50 {
                let key = SubjectKey.sample("user-\(number)")
                let account = try await database.accounts.signIn(.sample(key: key)).account
                #expect(connection.read { try $0.subjects.find(key)?.record.account } == account)
            }
            connection.close()
        }
    }

    @Test func `sends a failed read the long way and serves the next`() async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        let connection = try DirectReadConnection(path: file.path, longestRead: .seconds(60))
        let failed: Bool? = connection.read { _ in throw DatabaseError(resultCode: .SQLITE_BUSY) }
        #expect(failed == nil)
        #expect(connection.read { try $0.subjects.find(.sample()) != nil } == true)
        connection.close()
    }

    @Test func `reads nothing for a while after reads that took long`() async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        let connection = try DirectReadConnection(path: file.path, longestRead: .zero)
        let responses = (0..<4).map { _ in connection.read { try $0.subjects.find(.sample()) != nil } }
        #expect(responses == [true, true, nil, nil])
        connection.close()
    }

    @Test func `reads nothing after it was closed`() async throws {
        try await file.use { _ = try await $0.accounts.signIn(.sample()) }
        let connection = try DirectReadConnection(path: file.path)
        connection.close()
        #expect(connection.read { try $0.subjects.find(.sample()) != nil } == nil)
    }

    @Test func `says without waiting what waiting would say`() async throws {
        try await file.use { database in
            let key = SubjectKey.sample("person")
            let command = SignInCommand.sample(key: key)
            let stranger = SubjectKey.sample("stranger")
            _ = try await database.accounts.signIn(command)
            for key in [key, stranger] {
                let waited = try await database.accounts.credentials(
                    team: key.team, clientID: command.clientID, subjects: [key.subject])
                let now = database.accounts.credentialWithoutWaiting(
                    team: key.team, clientID: command.clientID, subject: key.subject)
                #expect(now == waited.first)
            }
        }
    }
}

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

@Suite struct OpenFilesTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test(arguments: ["", "-wal"])
    func `a commit to a file that has no name any more is not acknowledged`(suffix: String) async throws {
        try await file.use { database in
            try await database.accounts.signIn(.sample(key: .sample("before")))
            try FileManager.default.moveItem(atPath: file.path + suffix, toPath: file.path + ".moved")
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await database.accounts.signIn(.sample(key: .sample("during")))
            }
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await database.accounts.checkHealth()
            }
            // Another file of that name is as bad as none.
            _ = FileManager.default.createFile(atPath: file.path + suffix, contents: nil)
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await database.accounts.signIn(.sample(key: .sample("during")))
            }
            try FileManager.default.removeItem(atPath: file.path + suffix)
            try FileManager.default.moveItem(atPath: file.path + ".moved", toPath: file.path + suffix)
            try await database.accounts.checkHealth()
            try await database.accounts.signIn(.sample(key: .sample("during")))
        }
        try await file.use { database in
            for user: AppleSubject in ["before", "during"] {
                let account = try await database.accounts.account(.sample(user))
                #expect(account != nil)
            }
        }
    }
}

@Suite struct ReadTroubleTests {
    let now = ContinuousClock.now

    @Test(arguments: [StorageError.Code.corrupted, .unavailable])
    func `a read that failed counts for a while`(code: StorageError.Code) {
        var trouble = ReadTrouble()
        trouble.failed(StorageError(code, detail: ""), at: now)
        #expect(trouble.recent(at: now + .milliseconds(9999))?.code == code)
        #expect(trouble.recent(at: now + .seconds(10)) == nil)
    }

    @Test(arguments: [StorageError.Code.busy, .valueRefused])
    func `what says nothing about the disk does not count`(code: StorageError.Code) {
        var trouble = ReadTrouble()
        trouble.failed(StorageError(code, detail: ""), at: now)
        #expect(trouble.recent(at: now) == nil)
    }
}
