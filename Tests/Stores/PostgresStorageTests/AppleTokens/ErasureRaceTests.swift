import AppleAccounts
import Foundation
import SQLTables
import StorageConformance
import Testing

@testable import PostgresStorage

/// Actions of a replica while another replica erases the account.
@Suite struct ErasureRaceTests {
    static let rounds = 40

    /// Runs both at the same time, in varying order.
    @discardableResult
    private func race<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async throws -> First,
        _ second: @escaping @Sendable () async throws -> Second
    ) async throws -> (First, Second) {
        async let one = first()
        async let other = second()
        return try await (one, other)
    }

    @Test func `an old token never brings an account back while it is erased`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...Self.rounds {
                let key = SubjectKey.sample("user-\(round)")
                let account = try await here.signIn(.sample(key: key, authorizedAt: 1000)).account
                try await race(
                    { try await here.erase(.sample(UInt64(round), account: account, at: 9000)) },
                    {
                        do {
                            try await there.signIn(.sample(key: key, authorizedAt: 2000, receivedAt: 8000))
                        } catch let refusal as AccountRefusal {
                            #expect(refusal.code == .credentialRevoked)
                        }
                    })
                #expect(try await there.account(key) == nil)
                let credential = try await there.credentials(
                    team: key.team, clientID: "com.example.app", subjects: [key.subject])
                #expect(credential.map(\.state) == [.revoked])
                #expect(credential.map(\.reason) == [.erased])
            }
        }
    }

    @Test func `a code goes to the exchange or to the erasure, and never to both`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...UInt64(Self.rounds) {
                let account = try await here.signIn(
                    .sample(key: .sample("user-\(round)"), authorizationCode: .sample(round))
                ).account
                let (_, claimed) = try await race(
                    { try await here.erase(.sample(round, account: account, at: 1_010_000)) },
                    {
                        try await there.claimCodes(limit: 1, at: 1_010_000, leaseUntil: 1_200_000)
                    })
                let record = try #require(try await here.erasure(ErasureID(.sample(round))))
                #expect(record.tokens.map(\.isClaimed) == [!claimed.isEmpty])
                #expect(try await here.claimCodes(limit: 1, at: 9_000_000, leaseUntil: .last).isEmpty)
            }
        }
    }

    @Test func `an erasure is finished whichever replica does the last of its tokens`() async throws {
        try await Replicas.with { replicas in
            for round in 1...UInt64(Self.rounds) {
                let key = SubjectKey.sample("user-\(round)")
                try await replicas.stores[0].hold(2 * round, key: key)
                let account = try await replicas.stores[0].hold(
                    2 * round + 1, key: key, issuedTo: "com.example.web", authorizedAt: 2_000_000)
                let id = try await replicas.stores[0].erase(.sample(round, account: account)).id
                let tokens = try await replicas.stores[0].claimErasureTokens(
                    limit: 9, at: 5_000_000, leaseUntil: 6_000_000, of: id)
                #expect(tokens.count == 2)
                @Sendable func finish(_ number: Int) async throws {
                    var token = tokens[number].token
                    token.step = .done(.provenRevoked)
                    try await replicas.stores[number].save(token, of: id, at: 5_500_000)
                }
                try await race({ try await finish(0) }, { try await finish(1) })
                #expect(try await replicas.stores[0].erasure(id)?.finishedAt == 5_500_000)
            }
        }
    }

    @Test func `no transfer of an erased account stays behind`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            for round in 1...UInt64(Self.rounds) {
                let key = SubjectKey.sample("user-\(round)")
                let account = try await here.signIn(.sample(key: key)).account
                let transfer = TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: "transfer-\(round)", accountID: account.id,
                    from: key, createdAt: 1, expiresAt: 1000)
                try await race(
                    { try await here.erase(.sample(round, account: account)) },
                    { try await there.importTransfers([transfer]) })
                #expect(try await here.purgeTransfers(expiredBefore: .last) == 0)
            }
        }
    }
}

/// Values in the tables after the erasure of a user: none identifies the user.
@Suite struct ErasureTraceTests {
    @Test func `leaves nothing of the user in any table`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await TracedUser.make(in: store, others: 20)
            let before = try await replicas.dump()
            for trace in TracedUser.lastTraces {
                #expect(before.contains(trace), "\(trace) was there to be erased")
            }

            try await store.erase(.sample(account: account, at: 9000))
            // Apple's late words are not kept either.
            let key = SubjectKey(team: account.team, subject: account.subject)
            try await store.notify(
                .sample(key: key, at: 9500, identifier: "jti-late", payload: "trace-payload-late"))
            let after = try await replicas.dump()
            for trace in TracedUser.traces {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
            #expect(after.contains("other-19"))
        }
    }

    @Test func `leaves nothing of a user who was transferred to another team`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await TracedUser.make(in: store, others: 20)
            let moved = try await TracedUser.move(account, in: store)
            try await store.erase(.sample(account: moved, at: 9000))
            let after = try await replicas.dump()
            for trace in TracedUser.traces + ["trace-new"] {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
        }
    }
}

/// Two replicas that append to the history of one account at once.
@Suite struct HistoryRaceTests {
    private static let day: Int64 = 86_400_000

    @Test func `loses no entry, and numbers without gaps`() async throws {
        try await Replicas.with(2) { replicas in
            let stores = replicas.stores
            let apps: [ClientID] = ["com.example.app", "com.example.other"]
            for app in apps {
                try await stores[0].signIn(.sample(clientID: app, authorizedAt: 1000, receivedAt: 2000))
            }
            let account = try #require(try await stores[0].account(.sample()))
            for round in 1...40 as ClosedRange<Int64> {
                // Both find the same last number, unless one waits for the other.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (store, app) in zip(stores, apps) {
                        group.addTask {
                            let moment = Moment(milliseconds: round * Self.day)
                            try await store.signIn(
                                .sample(clientID: app, authorizedAt: moment, receivedAt: moment))
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let entries = try await stores[1].history(of: account.id, limit: 200)
            #expect(entries.count == 80)
            #expect(Set(entries.map { "\($0.clientID.rawValue) \($0.moment.milliseconds)" }).count == 80)
            let numbers = PostgresStatement(
                "numbers_of_history",
                "SELECT (max(number) = 80 AND min(number) = 1 AND count(*) = 80)::text FROM account_history")
            let isWhole = try await stores[0].pool.run { try $0.run(PostgresCall(numbers)).text(0, 0) }
            #expect(isWhole == "true")
        }
    }

    @Test func `leaves nothing of an account that is erased while it is written`() async throws {
        try await Replicas.with(2) { replicas in
            let stores = replicas.stores
            for round in 1...20 as ClosedRange<Int64> {
                let key = SubjectKey.sample(AppleSubject(stringLiteral: "erased-\(round)"))
                let account = try await stores[0].signIn(
                    .sample(key: key, authorizedAt: 1000, receivedAt: 2000)
                ).account
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await stores[0].commit([
                            .signIn(
                                .sample(
                                    key: key, authorizedAt: 2000, createsAccount: false,
                                    receivedAt: Moment(milliseconds: Self.day)))
                        ])
                    }
                    group.addTask {
                        try await stores[1].erase(
                            .sample(UInt64(round), account: account, at: Moment(milliseconds: Self.day)))
                    }
                    try await group.waitForAll()
                }
                #expect(try await stores[0].history(of: account.id, limit: 9) == [])
            }
        }
    }
}
