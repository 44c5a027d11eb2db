import AppleAccounts
import Foundation
import PostgresStorage
import StorageConformance
import Testing

/// What is left of a person in the tables after an erasure: nothing that names them.
@Suite struct ErasureTraceTests {
    private static let lastTraces = [
        "trace-sub", "trace-mail", "Tracey", "Tracington", "trace-payload", "trace-transfer",
    ]
    /// With what was replaced before the erasure.
    private static let traces = lastTraces + ["trace-posted", "trace-relay"]

    /// A person with everything that can be known, among others.
    private func makePerson(in store: PostgresAccountStore) async throws -> Account {
        let key = SubjectKey.sample("001999.trace-sub.0123")
        for number in 0..<20 { try await store.signIn(.sample(key: .sample("other-\(number)"))) }
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
        return account
    }

    @Test func `leaves nothing of the person in any table`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await makePerson(in: store)
            let before = try await replicas.dump()
            for trace in Self.lastTraces {
                #expect(before.contains(trace), "\(trace) was there to be erased")
            }

            try await store.erase(.sample(account: account, at: 9000))
            // Apple's late words are not kept either.
            let key = SubjectKey(team: account.team, subject: account.subject)
            try await store.notify(
                .sample(key: key, at: 9500, identifier: "jti-late", payload: "trace-payload-late"))
            let after = try await replicas.dump()
            for trace in Self.traces {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
            #expect(after.contains("other-19"))
        }
    }

    @Test func `leaves nothing of a person who was transferred to another team`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await makePerson(in: store)
            try await store.transfer(
                TransferCommand(
                    accountID: account.id, from: SubjectKey(team: account.team, subject: account.subject),
                    to: .sample(team: "OTHERTEAM1", "trace-new-name"), clientID: "com.example.app",
                    email: .sample("trace-new-mail@example.com"), createdAt: account.createdAt,
                    receivedAt: 8000))
            let moved = try #require(try await store.account(account.id))
            try await store.erase(.sample(account: moved, at: 9000))
            let after = try await replicas.dump()
            for trace in Self.traces + ["trace-new"] {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
        }
    }
}
