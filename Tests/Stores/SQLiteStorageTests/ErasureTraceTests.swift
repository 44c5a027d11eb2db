import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct AuditPurgeTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `a step looks for the end of rows of the future up to its bound`() async throws {
        try await file.use { try await FutureAudit.begin(in: $0.accounts) }
        try await run(FutureAudit.statements)
        #expect(try await purge() == 0)
        try await run(FutureAudit.shortening)
        #expect(try await purge() == AuditPurge.largestStep)
    }

    private func purge() async throws -> Int {
        try await file.use { try await FutureAudit.purge($0.accounts) }
    }

    private func run(_ sql: String) async throws {
        try await DatabaseQueue(path: file.path, configuration: .writing(patience: 5))
            .write { try $0.execute(sql: sql) }
    }
}

/// Values in the file after the erasure of a user: none identifies the user.
@Suite struct ErasureTraceTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    /// Makes the user among others, half of them created earlier, half of them later.
    private func makeUser(in store: SQLiteAccountStore, others: Int = 200) async throws -> Account {
        let account = try await TracedUser.make(in: store, others: others)
        for number in others..<2 * others { try await store.signIn(.sample(key: .sample("other-\(number)"))) }
        return account
    }

    /// Every value of every table, as text.
    private func dump() throws -> String {
        try DatabaseQueue(path: file.path).read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            return try tables.map { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map(\.description)
                    .joined(separator: "\n")
            }.joined(separator: "\n")
        }
    }

    private func bytes(_ suffix: String = "") -> String {
        // Every byte becomes a character, so that text is found between bytes that are not UTF-8.
        let data = FileManager.default.contents(atPath: file.path + suffix) ?? Data()
        return String(data: data, encoding: .isoLatin1) ?? ""
    }

    @Test func `leaves nothing of the user in any table or page`() async throws {
        let account = try await file.use { try await makeUser(in: $0.accounts) }
        let before = try dump()
        for trace in TracedUser.lastTraces {
            #expect(before.contains(trace), "\(trace) was there to be erased")
        }

        try await file.use { database in
            try await database.accounts.erase(.sample(account: account, at: 9000))
            // Apple's late words are not kept either.
            let key = SubjectKey(team: account.team, subject: account.subject)
            try await database.accounts.notify(
                .sample(key: key, at: 9500, identifier: "jti-late", payload: "trace-payload-late"))
        }
        let after = try dump()
        let file = bytes()
        for trace in TracedUser.traces {
            let (isInTable, isInPage) = (after.contains(trace), file.contains(trace))
            #expect(!isInTable, "\(trace) is in a table")
            #expect(!isInPage, "\(trace) is in a page")
        }
        #expect(after.contains("other-399"))
    }

    @Test func `leaves nothing of a user who was transferred to another team`() async throws {
        try await file.use { database in
            let account = try await makeUser(in: database.accounts)
            let moved = try await TracedUser.move(account, in: database.accounts)
            try await database.accounts.erase(.sample(account: moved, at: 9000))
        }
        let (after, file) = (try dump(), bytes())
        for trace in TracedUser.traces + ["trace-new"] {
            let (isInTable, isInPage) = (after.contains(trace), file.contains(trace))
            #expect(!isInTable, "\(trace) is in a table")
            #expect(!isInPage, "\(trace) is in a page")
        }
    }

    @Test func `empties the log of what was erased while the service runs`() async throws {
        try await file.use { database in
            let account = try await makeUser(in: database.accounts, others: 5)
            let wasInLog = bytes("-wal").contains("trace-mail")
            #expect(wasInLog)
            try await database.accounts.erase(.sample(account: account, at: 9000))
            // Behind the emptying of the log in the queue of the connection that writes.
            try await database.accounts.signIn(.sample(key: .sample("the-next")))
            for trace in TracedUser.traces {
                let (isInLog, isInPage) = (bytes("-wal").contains(trace), bytes().contains(trace))
                #expect(!isInLog, "\(trace) is in the log")
                #expect(!isInPage, "\(trace) is in a page")
            }
        }
    }

    @Test func `forgets a token's secret when it is replaced or dropped`() async throws {
        try await file.use { database in
            let store = database.accounts
            let account = try await store.signIn(.sample(authorizationCode: .sample(1))).account
            try await store.exchange(
                ExchangeCommand(
                    codeID: .sample(1), key: .sample(), accountID: account.id, clientID: "com.example.app",
                    primaryClientID: "com.example.app",
                    outcome: .token(
                        .sample("sealed-trace"), tokenID: .sample(1), authorizedAt: 1_000_000, nextCheckAt: 1),
                    receivedAt: 1_000_000))
            try await store.notify(.sample(at: 2_000_000))
        }
        let (hasToken, hasCode) = (bytes().contains("sealed-trace"), bytes().contains("code 1 of"))
        #expect(!hasToken)
        #expect(!hasCode)
    }
}
