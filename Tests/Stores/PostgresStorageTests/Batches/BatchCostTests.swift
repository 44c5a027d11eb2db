import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

/// Cost of a batch for the server.
@Suite struct BatchCostTests {
    private static func users(_ count: Int) -> [SubjectKey] {
        (0..<count).map { SubjectKey.sample("user-\($0)") }
    }

    @Test(arguments: [1, 64, 512])
    func `takes two round trips for known sign-ins, however many`(size: Int) async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let keys = Self.users(size)
            _ = try await store.commit(keys.map { .signIn(.sample(key: $0, authorizedAt: 1000)) })
            let trips = try await Self.roundTrips(
                of: keys.map { .signIn(.sample(key: $0, authorizedAt: 2000)) }, store)
            #expect(trips == 2)
        }
    }

    @Test(arguments: [1, 64, 512])
    func `takes as many round trips for one new user as for many`(size: Int) async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            // Names and a block of IDs are there.
            try await store.signIn(.sample(key: .sample("first")))
            let trips = try await Self.roundTrips(
                of: Self.users(size).map { .signIn(.sample(key: $0)) }, store)
            // A look without locks, then locking, then writing.
            #expect(trips == 3)
        }
    }

    @Test(arguments: [1, 64, 512])
    func `takes two round trips for notifications, however many`(size: Int) async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let keys = Self.users(size)
            _ = try await store.commit(keys.map { .signIn(.sample(key: $0, authorizedAt: 1000)) })
            let trips = try await Self.roundTrips(
                of: keys.map { .notification(.sample(key: $0)) }, store)
            #expect(trips == 2)
        }
    }

    @Test func `writes nothing when nothing is to be written`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await store.signIn(.sample(authorizedAt: 1000))
            try await store.notify(.sample(at: 2000))
            try await store.signIn(.sample(authorizedAt: 3000))
            try await store.notify(.sample(at: 4000))
            let rows = PostgresStatement(
                "test_versions",
                """
                SELECT concat_ws(' ', s.ctid, s.xmin, s.xmax, c.ctid, c.xmin, c.xmax)
                FROM subject AS s JOIN credential AS c ON c.subject_id = s.id
                """)
            @Sendable func versions() async throws -> String? {
                try await store.pool.run { try $0.run(PostgresCall(rows)).text(0, 0) }
            }
            let before = try await versions()
            let refused = try await store.commit([.signIn(.sample(authorizedAt: 3500))])
            #expect(refused.results == [.refused(AccountRefusal(.credentialRevoked))])
            #expect(try await versions() == before)
        }
    }

    /// PostgreSQL keeps a plan for an empty table for a while after the table has got rows.
    @Test func `finds rows by their indexes from the beginning`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let keys = Self.users(3)
            try await store.pool.run { session in
                let committer = BatchCommitter(ids: SubjectIDs(), sealing: NoAppleTokenSealing())
                for moment in [1000, 2000] as [Moment] {
                    _ = try committer.commit(
                        keys.map { .signIn(.sample(key: $0, authorizedAt: moment)) }, in: session)
                }
                _ = try committer.commit(keys.map { .notification(.sample(key: $0)) }, in: session)
                _ = try EventReader.page(
                    after: 0, limit: 1, visibleTo: .only(["com.example.app"]), in: session)
                let statements = [
                    ("see_subjects", 2), ("update_seen_credentials", 10), ("lock_unknown_subjects", 3),
                    ("lock_subjects", 2), ("lock_tombstones", 3), ("lock_credentials", 2),
                    ("update_credentials", 11),
                    ("find_inbox_identifiers", 1), ("find_inbox_keys", 4),
                    ("find_allowed_events", 3),
                ]
                for (name, parameters) in statements {
                    let nulls = Array(repeating: "NULL", count: parameters).joined(separator: ", ")
                    let explain = PostgresStatement("explain_\(name)", "EXPLAIN EXECUTE \(name)(\(nulls))")
                    let plan = try session.run(PostgresCall(explain))
                    let lines = (0..<plan.count).compactMap { plan.text($0, 0) }
                    #expect(
                        !lines.contains { $0.contains("Seq Scan") || $0.contains("Hash Join") }, "\(lines)")
                    #expect(lines.contains { $0.contains("Index") || $0.contains("Tid Scan") }, "\(lines)")
                }
            }
        }
    }

    private static func roundTrips(
        of commands: [AccountCommand], _ store: PostgresAccountStore
    ) async throws -> Int {
        let ids = SubjectIDs()
        return try await store.pool.run { session in
            // A block of IDs is fetched once in a thousand new users, a name once in a session.
            _ = try ids.next(in: session)
            try session.names.ensure(namesOf: commands, in: session)
            let before = session.roundTrips
            let result = try BatchCommitter(ids: ids, sealing: NoAppleTokenSealing()).commit(
                commands, in: session)
            #expect(result.results.allSatisfy { if case .done = $0 { true } else { false } })
            return session.roundTrips - before
        }
    }
}

/// Effects of a sign-in on rows that it has read without a lock.
@Suite struct SeenSubjectsTests {
    private static let rows = PostgresCall(
        PostgresStatement(
            "test_rows", "SELECT string_agg(c::text, ' ' ORDER BY subject_id, app_id) FROM credential AS c"))

    /// Reads five of six users who were stored by one transaction, and applies sign-ins to them. Returns the
    /// calls that write the changes.
    private func look(in session: PostgresSession) throws -> [PostgresCall] {
        let users = (0..<6).map { SubjectKey.sample("user-\($0)") }
        _ = try BatchCommitter(ids: SubjectIDs(), sealing: NoAppleTokenSealing())
            .commit(users.map { .signIn(.sample(key: $0, authorizedAt: 1000)) }, in: session)
        var set = WorkingSet(users.dropFirst().map { .signIn(.sample(key: $0, authorizedAt: 2000)) })
        let keys = try SubjectKeyArrays(set.subjectKeys, session.names)
        let call = try #require(SeenSubjects.call(for: keys))
        let seen = try SeenSubjects(
            try session.run(call), of: keys, into: &set, session.names, in: session)
        #expect(seen.areAllKnown)
        var generator = SystemRandomNumberGenerator()
        _ = set.applyCommands(using: &generator)
        return seen.updateCalls(for: set)
    }

    @Test func `writes what it has seen, if it is still the same`() async throws {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session in
                let calls = try look(in: session)
                _ = try session.pipeline(calls)
                let changed = PostgresCall(
                    PostgresStatement(
                        "test_changed", "SELECT count(*) FROM credential WHERE authorized_at = 2000"))
                #expect(try session.run(changed).integer(0, 0) == 5)
            }
        }
    }

    @Test(arguments: [
        ["UPDATE credential SET last_sign_in_at = last_sign_in_at"],
        ["DELETE FROM credential WHERE subject_id = (SELECT max(subject_id) FROM credential)"],
        // Each row is then where another one was, which the same transaction had written.
        [
            "DELETE FROM credential WHERE subject_id = (SELECT min(subject_id) FROM credential)",
            "VACUUM FULL credential",
        ],
    ])
    func `changes nothing when a row is not the one that was seen`(meanwhile: [String]) async throws {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session in
                let calls = try look(in: session)
                for script in meanwhile { try session.execute(script: script, name: "meanwhile") }
                let before = try session.run(Self.rows).text(0, 0)
                let error = #expect(throws: PostgresError.self) { _ = try session.pipeline(calls) }
                #expect(error?.sqlState == "40001")
                #expect(try session.run(Self.rows).text(0, 0) == before)
            }
        }
    }
}

/// Thousands of users who sign in and are erased at one replica, while another replica receives their old
/// tokens.
@Suite struct ErasureStormTests {
    private static let rounds = 5000
    private static let workers = 8

    @Test func `brings none of 5,000 erased users back by an old token at another replica`() async throws {
        try await Replicas.with { replicas in
            let back = try await withThrowingTaskGroup(of: [Int].self) { group in
                for worker in 0..<Self.workers {
                    group.addTask {
                        var back: [Int] = []
                        for round in stride(from: worker, to: Self.rounds, by: Self.workers) {
                            if try await Self.isBack(round, in: replicas) { back.append(round) }
                        }
                        return back
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(back == [], "the rounds in which the user was known again")
        }
    }

    private static func isBack(_ round: Int, in replicas: Replicas) async throws -> Bool {
        let key = SubjectKey.sample("user-\(round)")
        let (here, there) = (replicas.stores[round % 2], replicas.stores[1 - round % 2])
        async let erased: Void = {
            let account = try await here.signIn(.sample(key: key, authorizedAt: 2000)).account
            try await here.erase(.sample(UInt64(round), account: account, at: 9000))
        }()
        async let replayed: Void = {
            for attempt in 0..<3 as Range<Int64> {
                let moment = Moment(milliseconds: 1000 + attempt)
                // Apple's late word is as dangerous as an old token: both make a row of one who has none.
                let command: AccountCommand =
                    (round + Int(attempt)) % 4 == 0
                    ? .notification(.sample(key: key, at: moment))
                    : .signIn(.sample(key: key, authorizedAt: moment))
                _ = try await there.commit([command])
            }
        }()
        _ = try await (erased, replayed)
        let credential = try await here.credential(key)
        return try await there.account(key) != nil || credential.reason != .erased
    }
}
