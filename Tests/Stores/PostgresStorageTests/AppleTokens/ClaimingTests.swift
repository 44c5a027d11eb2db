import AppleAccounts
import PostgresStorage
import StorageConformance
import Testing

/// Claims by workers of several replicas at the same time. Each piece of work goes to one worker.
@Suite struct ClaimingTests {
    /// Claims with eight tasks, distributed over the replicas, until no task finds any work. Each task claims once per
    /// round, so that the first task does not claim everything before the others begin.
    private func claimAll(
        in replicas: Replicas, _ claim: @escaping @Sendable (PostgresAccountStore) async throws -> [UniqueID]
    ) async throws -> [[UniqueID]] {
        var shares = Array(repeating: [UniqueID](), count: 8)
        while true {
            let claimed = try await withThrowingTaskGroup(of: (Int, [UniqueID]).self) { group in
                for number in shares.indices {
                    let store = replicas.stores[number % replicas.stores.count]
                    group.addTask { (number, try await claim(store)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            if claimed.allSatisfy(\.1.isEmpty) { return shares }
            for (number, work) in claimed { shares[number] += work }
        }
    }

    /// Checks that each piece of work was claimed once, and that the work was shared.
    private func expect(_ shares: [[UniqueID]], are count: UInt64) {
        #expect(shares.flatMap { $0 }.sorted() == (1...count).map { .sample($0) })
        #expect(shares.filter { !$0.isEmpty }.count > 1)
    }

    @Test func `gives each code to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            _ = try await replicas.stores[0].commit(
                (1...400).map { number in
                    .signIn(.sample(key: .sample("p\(number)"), authorizationCode: .sample(number)))
                })
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimCodes(limit: 3, at: 2_000_000, leaseUntil: 3_000_000).map { claimed in
                    #expect(claimed.record.attempts == 1)
                    #expect(!claimed.isInterrupted)
                    return claimed.record.id
                }
            }
            expect(shares, are: 400)
        }
    }

    @Test func `gives each check to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            let first = replicas.stores[0]
            for number in 1...60 as ClosedRange<UInt64> {
                try await first.hold(number, key: .sample("p\(number)"), nextCheckAt: 5000)
            }
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimChecks(
                    limit: 2, at: 5000, nextAfter: 9000, jitterMilliseconds: 1000
                ).map(\.tokenID)
            }
            expect(shares, are: 60)
            let next = try #require(try await first.nextDue().check)
            #expect((9000..<10_000).contains(next.milliseconds))
        }
    }

    @Test func `gives each token of an erasure to one of eight claimers on two replicas`() async throws {
        try await Replicas.with { replicas in
            for number in 1...60 as ClosedRange<UInt64> {
                let account = try await replicas.stores[0].hold(number, key: .sample("p\(number)"))
                try await replicas.stores[1].erase(.sample(number, account: account))
            }
            let shares = try await claimAll(in: replicas) { store in
                try await store.claimErasureTokens(
                    limit: 2, at: 5_000_000, leaseUntil: 6_000_000, of: nil
                ).map(\.token.id)
            }
            expect(shares, are: 60)
        }
    }

    @Test func `leaves the claims of another replica alone when one starts`() async throws {
        try await Replicas.with(1) { replicas in
            let account = try await replicas.stores[0].hold(2, key: .sample("erased"))
            try await replicas.stores[0].erase(.sample(account: account))
            try await replicas.stores[0].signIn(.sample(authorizationCode: .sample(1)))
            func claim(_ store: PostgresAccountStore) async throws -> Int {
                let codes = try await store.claimCodes(limit: 9, at: 6_000_000, leaseUntil: 7_000_000)
                let tokens = try await store.claimErasureTokens(
                    limit: 9, at: 6_000_000, leaseUntil: 7_000_000, of: nil)
                return codes.count + tokens.count
            }
            #expect(try await claim(replicas.stores[0]) == 2)
            let second = try await replicas.openAnother()
            #expect(try await claim(second.accounts) == 0)
            await second.close()
        }
    }
}
