import AppleAccounts
import Foundation
import StorageConformance
import Testing

@testable import SQLiteStorage

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
