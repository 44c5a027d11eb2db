import AppleAccounts
import GRDB
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
