import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

/// What is left of a person in the file after an erasure: nothing that names them.
@Suite struct ErasureTraceTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    private static let lastTraces = [
        "trace-sub", "trace-mail", "Tracey", "Tracington", "trace-payload", "trace-transfer",
    ]
    /// With what was replaced before the erasure.
    private static let traces = lastTraces + ["trace-posted", "trace-relay"]

    /// A person with everything that can be known, among others.
    private func makePerson(
        in store: SQLiteAccountStore, others: Int = 200
    ) async throws -> Account {
        let key = SubjectKey.sample("001999.trace-sub.0123")
        for number in 0..<others { try await store.signIn(.sample(key: .sample("other-\(number)"))) }
        func notify(_ change: NotifiedEvent.Change, _ number: Int64, _ clientID: ClientID) async throws {
            try await store.notify(
                .sample(
                    change, key: key, clientID: clientID, at: Moment(milliseconds: number),
                    identifier: "jti-\(number)", payload: "trace-payload-\(number)"))
        }
        try await notify(.consentRevoked, 500, "com.example.other")
        try await store.signIn(
            .sample(
                key: key, authorizedAt: 1000, email: nil, firstName: "Tracey", lastName: "Tracington",
                unsignedEmail: "trace-posted@example.com"))
        let relay = EmailAddress.sample("trace-relay@privaterelay.appleid.com", isPrivate: true)
        try await notify(.emailForwarding(.disabled, relay), 3000, "com.example.app")
        try await notify(.unknown, 3001, "com.example.app")
        try await store.hold(1, key: key, authorizedAt: 4000)
        let account = try await store.signIn(
            .sample(key: key, authorizedAt: 5000, email: .sample("trace-mail@example.com"))
        ).account
        try await store.importTransfers([
            TransferRecord(
                recipientTeam: "OTHERTEAM1", transferSubject: "trace-transfer", accountID: account.id,
                from: key, createdAt: 1, expiresAt: 9_000_000)
        ])
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
        // Every byte becomes a character, so that text is found wherever it stands.
        let data = FileManager.default.contents(atPath: file.path + suffix) ?? Data()
        return String(data: data, encoding: .isoLatin1) ?? ""
    }

    @Test func `leaves nothing of the person in any table or page`() async throws {
        let account = try await file.use { try await makePerson(in: $0.accounts) }
        let before = try dump()
        for trace in Self.lastTraces { #expect(before.contains(trace), "\(trace) was there to be erased") }

        try await file.use { database in
            try await database.accounts.erase(.sample(account: account, at: 9000))
            // Apple's late words are not kept either.
            let key = SubjectKey(team: account.team, subject: account.subject)
            try await database.accounts.notify(
                .sample(key: key, at: 9500, identifier: "jti-late", payload: "trace-payload-late"))
        }
        let after = try dump()
        let file = bytes()
        for trace in Self.traces {
            let (isInTable, isInPage) = (after.contains(trace), file.contains(trace))
            #expect(!isInTable, "\(trace) is in a table")
            #expect(!isInPage, "\(trace) is in a page")
        }
        #expect(after.contains("other-399"))
    }

    @Test func `leaves nothing of a person who was transferred to another team`() async throws {
        try await file.use { database in
            let account = try await makePerson(in: database.accounts)
            let to = SubjectKey.sample(team: "OTHERTEAM1", "trace-new-name")
            try await database.accounts.transfer(
                TransferCommand(
                    accountID: account.id, from: SubjectKey(team: account.team, subject: account.subject),
                    to: to, clientID: "com.example.app", email: .sample("trace-new-mail@example.com"),
                    createdAt: account.createdAt, receivedAt: 8000))
            let moved = try #require(try await database.accounts.account(account.id))
            try await database.accounts.erase(.sample(account: moved, at: 9000))
        }
        let (after, file) = (try dump(), bytes())
        for trace in Self.traces + ["trace-new"] {
            let (isInTable, isInPage) = (after.contains(trace), file.contains(trace))
            #expect(!isInTable, "\(trace) is in a table")
            #expect(!isInPage, "\(trace) is in a page")
        }
    }

    @Test func `empties the log of what was erased while the service runs`() async throws {
        try await file.use { database in
            let account = try await makePerson(in: database.accounts, others: 5)
            let wasInLog = bytes("-wal").contains("trace-mail")
            #expect(wasInLog)
            try await database.accounts.erase(.sample(account: account, at: 9000))
            // Behind the emptying of the log in the queue of the connection that writes.
            try await database.accounts.signIn(.sample(key: .sample("the-next")))
            for trace in Self.traces {
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
