import AppAttestation
import AppleAccounts
import SQLTables
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// Assertions and registrations of several replicas at the same time.
@Suite struct AttestedKeyRaceTests {
    /// Ten pairs of equal counters, sent to two replicas at once, as sign-ins and as other calls.
    @Test(arguments: [true, false])
    func `accepts one of equal counters of 20 parallel assertions, and never lets a counter fall`(
        areSignIns: Bool
    ) async throws {
        try await Replicas.with { replicas in
            try await replicas.stores[0].signIn(.sample())
            try await replicas.stores[0].register(.sample(challenge: 0))
            for round in 0..<25 {
                let base = UInt32(round * 10)
                let results = try await withThrowingTaskGroup(of: (UInt32, CommandResult).self) { group in
                    for number in 0..<20 {
                        let counter = base + 1 + UInt32(number / 2)
                        let proof = AppProof.sample(challenge: 1 + round * 20 + number, counter: counter)
                        let command: AccountCommand =
                            areSignIns
                            ? .signIn(.sample(proof: proof, demandsProof: true))
                            : .useProof(UseProofCommand(proof: proof, receivedAt: 2_000_000))
                        group.addTask {
                            let store = replicas.stores[number % 2]
                            return (counter, try await store.commit([command]).results[0])
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let accepted = results.filter { if case .done = $0.1 { true } else { false } }.map(\.0)
                #expect(Set(accepted).count == accepted.count)
                #expect(accepted.contains(base + 10))
                for case (_, .refused(let refusal)) in results {
                    #expect(refusal.code == .counterNotIncreased)
                }
                #expect(results.allSatisfy { if case .failed = $0.1 { false } else { true } })
                #expect(try await replicas.stores[1].attestedKey(.sample())?.counter == base + 10)
            }
        }
    }

    /// The other replica has read the lower counter already, and waits for the row.
    @Test(arguments: [5, 6, 7] as [UInt32])
    func `compares a counter with the counter that another replica is about to commit`(
        counter: UInt32
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            try await here.register(.sample(challenge: 0))
            let raise = "UPDATE app_attest_key SET counter = 6"
            let row = try LockHolder(replicas.url, raise)
            async let late = there.commit([.useProof(.sample(challenge: 1, counter: counter))])
            try await eventually { try row.waiters == 1 }
            try row.release()
            let isAccepted = try await late.results == [.done(.proofUsed)]
            #expect(isAccepted == (counter == 7))
            #expect(try await here.attestedKey(.sample())?.counter == max(counter, 6))
        }
    }

    @Test func `uses a challenge once, at whatever replica`() async throws {
        try await Replicas.with { replicas in
            try await replicas.stores[0].register(.sample(challenge: 0))
            for round in 0..<20 {
                let results = try await withThrowingTaskGroup(of: CommandResult.self) { group in
                    for number in 0..<6 {
                        let counter = UInt32(round * 6 + number + 1)
                        let command = AccountCommand.useProof(.sample(challenge: 1 + round, counter: counter))
                        group.addTask { try await replicas.stores[number % 2].commit([command]).results[0] }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count { $0 == .done(.proofUsed) } <= 1)
                #expect(results.count { $0 == .refused(AccountRefusal(.challengeUsed)) } >= 5)
            }
        }
    }

    @Test func `registers a key once when two replicas get the same registration`() async throws {
        try await Replicas.with { replicas in
            for round in 0..<20 {
                let results = try await withThrowingTaskGroup(of: CommandResult.self) { group in
                    for number in 0..<6 {
                        let command = AccountCommand.registerKey(.sample(.sample(round), challenge: round))
                        group.addTask { try await replicas.stores[number % 2].commit([command]).results[0] }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let registered = results.compactMap { result -> RegisteredKey? in
                    if case .done(.keyRegistered(let key)) = result { key } else { nil }
                }
                #expect(registered.count == 6, "\(results)")
                #expect(registered.count(where: \.isNew) == 1)
                #expect(registered.allSatisfy { $0.key == .sample(round) })
            }
        }
    }

    @Test func `keeps the bound on keys when two replicas fill it`() async throws {
        try await Replicas.with { replicas in
            let results = try await withThrowingTaskGroup(of: CommandResult.self) { group in
                for number in 0..<20 {
                    // Each key twice, with challenges of its own.
                    let command = AccountCommand.registerKey(
                        .sample(.sample(number / 2), challenge: number, mostKeys: 7))
                    group.addTask { try await replicas.stores[number % 2].commit([command]).results[0] }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let new = results.count {
                if case .done(.keyRegistered(let key)) = $0 { key.isNew } else { false }
            }
            #expect(new == 7)
            var stored = 0
            for number in 0..<10 where try await replicas.stores[0].attestedKey(.sample(number)) != nil {
                stored += 1
            }
            #expect(stored == 7)
        }
    }

    /// A purge takes a bounded number, and the number of keys of the app falls by as many.
    @Test func `deletes unused keys in steps`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let fill = PostgresCall(
                PostgresStatement(
                    "test_fill_keys",
                    """
                    INSERT INTO app_attest_key (
                        key_id, app_id, public_key, environment, counter, created_at, used_at)
                    SELECT sha256(n::text::bytea), 'A1B2C3D4E5.com.example.app', decode(repeat('04', 65), 'hex'),
                        2, 0, 1, n FROM generate_series(1, 2500) AS n
                    """))
            let count = PostgresCall(
                PostgresStatement(
                    "test_fill_count",
                    """
                    INSERT INTO app_attest_count (key_count, app_id)
                    VALUES (2500, 'A1B2C3D4E5.com.example.app')
                    """))
            try await store.pool.run { _ = try $0.pipeline([.begin, fill, count, .commit]) }
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await store.purgeAttestedKeys(unusedSince: 2401)) }
            #expect(counts == [1000, 1000, 400, 0])
            try await store.register(.sample(challenge: 1, mostKeys: 101))
            await #expect(throws: AccountRefusal(.attestationKeysFull)) {
                try await store.register(.sample(.sample(2), challenge: 2, mostKeys: 101))
            }
        }
    }
}

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
