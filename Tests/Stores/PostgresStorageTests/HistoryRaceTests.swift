import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

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
