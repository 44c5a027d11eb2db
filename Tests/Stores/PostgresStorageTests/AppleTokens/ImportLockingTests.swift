import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

@Suite struct ImportLockingTests {
    private static let lock = PostgresStatement(
        "test_lock", "SELECT id FROM subject WHERE account_id = $1::uuid FOR UPDATE NOWAIT")
    private static let waiting = PostgresCall(
        PostgresStatement(
            "test_waiting",
            """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (
                SELECT pid FROM pg_stat_activity WHERE datname = current_database())
            """))

    @Test func `an import locks users in the order of batches, not of the teams' numbers`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            // The team that is met first has the lower number, and the later name.
            let last = try await here.signIn(.sample(key: .sample(team: "ZTEAM00001", "person"))).account.id
            let first = try await here.signIn(.sample(key: .sample(team: "ATEAM00001", "person"))).account.id
            let transfers = [last, first].enumerated().map { number, account in
                TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: AppleSubject(stringLiteral: "t\(number)"),
                    accountID: account, from: nil, createdAt: 1, expiresAt: 1000)
            }
            let (isHeld, held) = AsyncStream<Void>.makeStream()
            let importing = Task {
                for await _ in isHeld {}
                try await there.importTransfers(transfers)
            }
            let isWaiting = try await here.pool.run { session in
                defer { held.finish() }
                _ = try session.pipeline([.begin, PostgresCall(Self.lock, [.uuid(first.uniqueID)])])
                held.finish()
                let deadline = ContinuousClock.now + .seconds(2)
                var isWaiting = false
                while !isWaiting, ContinuousClock.now < deadline {
                    isWaiting = try session.run(Self.waiting).integer(0, 0) != 0
                }
                // It would hold this one already if it had begun with it.
                _ = try session.pipeline([PostgresCall(Self.lock, [.uuid(last.uniqueID)]), .commit])
                return isWaiting
            }
            #expect(isWaiting)
            try await importing.value
            #expect(try await here.purgeTransfers(expiredBefore: .last) == 2)
        }
    }
}
