import AppleAccounts
import SQLiteStorage
import StorageConformance
import TestSupport
import Testing

@testable import Commits

/// The group commit over the real store: commits with a response are present when the file is opened again.
@Suite struct GroupCommitOnSQLiteTests {
    @Test func `keeps what it answered, once`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "siwa.sqlite")
        let database = try await SQLiteDatabase.open(path: path, logger: .silent)
        let commits = GroupCommit<AccountCommand>(store: database.accounts, feed: EventFeed())
        let answered = try await withThrowingTaskGroup(of: AccountID.self) { group in
            for number in 0..<300 {
                group.addTask {
                    // Every third user signs in twice.
                    let key = SubjectKey.sample("user-\(number % 200)")
                    return try await commits.submit(SignInCommand.sample(key: key)).account.id
                }
            }
            return try await group.reduce(into: Set<AccountID>()) { $0.insert($1) }
        }
        #expect(answered.count == 200)
        await commits.drain()
        await database.close()

        let reopened = try await SQLiteDatabase.open(path: path, logger: .silent)
        for id in answered { #expect(try await reopened.accounts.account(id) != nil) }
        #expect(try await reopened.accounts.allEvents().count == 400)
        await reopened.close()
    }
}
