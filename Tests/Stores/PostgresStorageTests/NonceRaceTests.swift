import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

/// The outcome for a nonce that two replicas use at once, in an order that the test forces.
@Suite struct NonceRaceTests {
    private static let insert = PostgresCall(
        PostgresStatement("test_use", "INSERT INTO used_nonce (digest, kept_until) VALUES ($1::bytea, 9)"),
        [.bytes(NonceDigest.sample(1).bytes)])
    private static let waiting = PostgresCall(
        PostgresStatement(
            "test_waiting",
            """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (
                SELECT pid FROM pg_stat_activity WHERE datname = current_database())
            """))

    /// A known user's sign-in locks nothing before it writes, a new user's does.
    @Test(arguments: [true, false], [true, false])
    func `waits for the other use, and is refused if that commits`(
        isKnown: Bool, otherCommits: Bool
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            if isKnown { try await there.signIn(.sample()) }
            let (isHeld, held) = AsyncStream<Void>.makeStream()
            let signingIn = Task {
                for await _ in isHeld {}
                return try await there.commit([.signIn(.sample(nonce: .sample(1)))]).results
            }
            let isWaiting = try await here.pool.run { session in
                defer { held.finish() }
                _ = try session.pipeline([.begin, Self.insert])
                held.finish()
                let deadline = ContinuousClock.now + .seconds(2)
                var isWaiting = false
                while !isWaiting, ContinuousClock.now < deadline {
                    isWaiting = try session.run(Self.waiting).integer(0, 0) != 0
                }
                _ = try session.run(otherCommits ? .commit : .rollback)
                return isWaiting
            }
            #expect(isWaiting)
            let results = try await signingIn.value
            let isRefused = results == [.refused(AccountRefusal(.nonceUsed))]
            #expect(isRefused == otherCommits)
            let account = try await here.account(.sample())
            #expect((account != nil) == (isKnown || !otherCommits))
        }
    }

    @Test func `gives the same key to all replicas that start at once`() async throws {
        try await Replicas.with(4) { replicas in
            let keys = try await withThrowingTaskGroup(of: NonceKey.self) { group in
                for (number, store) in replicas.stores.enumerated() {
                    group.addTask { try await store.nonceKey(offering: .sample(UInt8(number))) }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(keys.count == 1)
        }
    }

    /// A purge takes a bounded number, and leaves what another replica is purging.
    @Test func `forgets used nonces in steps`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let fill = PostgresCall(
                PostgresStatement(
                    "test_fill",
                    """
                    INSERT INTO used_nonce (digest, kept_until)
                    SELECT sha256(n::text::bytea), 9 FROM generate_series(1, 2500) AS n
                    """))
            try await store.pool.run { _ = try $0.run(fill) }
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await store.purgeNonces(expiredBefore: 10)) }
            #expect(counts == [1000, 1000, 500, 0])
        }
    }
}
