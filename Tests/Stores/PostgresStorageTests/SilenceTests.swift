import AppleAccounts
import PostgresCluster
import Synchronization
import TestSupport
import Testing

@testable import PostgresStorage

/// A server that responds late or not at all, and the time limits of its callers.
@Suite struct SilenceTests {
    @Test func `gives up on statements and locks that take too long`() async throws {
        let cluster = try await PostgresCluster.shared()
        let options = "?options=-c%20statement_timeout%3D1500%20-c%20lock_timeout%3D100"
        try await cluster.use(options: options) { pool, _ in
            await #expect(throws: StorageError(.busy, detail: "")) {
                try await pool.run { _ = try $0.run(.sleep(seconds: 20)) }
            }
            try await pool.run { _ = try $0.run(.writeToProbe) }
            let (isHeld, held) = AsyncStream<Void>.makeStream()
            let holder = Task {
                try await pool.run { session in
                    _ = try session.pipeline([.begin, .writeToProbe])
                    held.finish()
                    _ = try session.run(PostgresCall(PostgresStatement("test_hold", "SELECT pg_sleep(1.2)")))
                }
            }
            for await _ in isHeld {}
            await #expect(throws: StorageError(.busy, detail: "")) {
                try await pool.run { _ = try $0.run(.writeToProbe) }
            }
            try await holder.value
            try await pool.run { _ = try $0.run(.writeToProbe) }
        }
    }

    @Test func `never waits for a server that accepts and does not answer`() async throws {
        let silent = try SilentServer()
        let url = try PostgresURL("postgres://siwa:secret@127.0.0.1:\(silent.port)/db?connect_timeout=2")
        let pool = PostgresPool(url, connections: 4, patience: .milliseconds(100))
        // One waits for the response to its greeting. Those that come later do not wait for it.
        let calls = (0..<12).map { _ in Task { try await pool.run { _ = try $0.run(.one) } } }
        for call in calls { await #expect(throws: StorageError.self) { try await call.value } }
        #expect(silent.accepted <= 5)
        await pool.close()
    }

    @Test func `gives up on a server that goes silent, and recovers when it speaks again`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { pool, _ in
            try await Self.shortenPatience(pool)
            // Stopped, as if its machine had lost its network: connections stay open and nothing comes back.
            try cluster.freeze()
            await #expect(throws: StorageError(.unavailable, detail: "")) {
                try await pool.run { _ = try $0.run(.one) }
            }
            try cluster.thaw()
            #expect(await recovers { try await pool.run { _ = try $0.run(.writeToProbe) } })
        }
        try await cluster.remove()
    }

    @Test func `asks a server that was silent nothing more on the same session`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { pool, _ in
            try await Self.shortenPatience(pool)
            try cluster.freeze()
            let trips = try await pool.run { session throws in
                #expect(throws: PostgresError.self) { _ = try session.pipeline([.begin, .one]) }
                let before = session.roundTrips
                #expect(throws: PostgresError.self) { try session.rollBack() }
                #expect(throws: PostgresError.self) { _ = try session.pipeline([]) }
                #expect(throws: PostgresError.self) { try session.execute(script: "SELECT", name: "test") }
                return session.roundTrips - before
            }
            #expect(trips == 0)
            try cluster.thaw()
            try await pool.run { _ = try $0.run(.one) }
        }
        try await cluster.remove()
    }

    private static func shortenPatience(_ pool: PostgresPool) async throws {
        try await pool.run { session in
            session.deadlines.response = .milliseconds(300)
            _ = try session.run(.one)
        }
    }
}

/// The wait of a start for a server that is not up yet.
@Suite struct ServerWaitTests {
    private enum Look {
        case gone(Duration)
        case there(Duration)
    }

    /// Returns the decision after each failed attempt.
    private static func decisions(_ looks: [Look], patience: Duration = .seconds(30)) -> [Bool] {
        let start = ContinuousClock.now
        var wait = ServerWait(patience: patience, from: start)
        return looks.map { look in
            switch look {
            case .gone(let time): wait.goesOn(isServerThere: false, at: start + time)
            case .there(let time): wait.goesOn(isServerThere: true, at: start + time)
            }
        }
    }

    @Test(arguments: [1, 5, 12, 20, 29, 31])
    func `a server that comes up after the attempt failed gets another attempt`(seconds: Int) {
        let before = (0..<min(seconds, 30)).map { Look.gone(.seconds($0)) }
        // The attempt got "Connection refused", and a moment later the server accepts connections.
        let after: [Look] = [
            .there(.seconds(seconds)), .there(.seconds(seconds) + .milliseconds(500)),
        ]
        #expect(!Self.decisions(before + after).contains(false))
    }

    @Test func `a server that refuses us is not waited for longer than three seconds`() {
        let decisions = Self.decisions([
            .gone(.zero), .there(.seconds(10)), .there(.milliseconds(12_999)), .there(.seconds(13)),
        ])
        #expect(decisions == [true, true, true, false])
    }

    @Test func `a server that does not come up ends the wait at its time`() {
        #expect(Self.decisions([.gone(.milliseconds(29_999)), .gone(.seconds(30))]) == [true, false])
    }

    @Test func `a server that goes away again is waited for anew`() {
        let decisions = Self.decisions([.there(.seconds(1)), .gone(.seconds(5)), .there(.seconds(9))])
        #expect(decisions == [true, true, true])
    }

    @Test func `without patience the first failure is the result`() {
        #expect(Self.decisions([.there(.zero)], patience: .zero) == [false])
        #expect(Self.decisions([.gone(.zero)], patience: .zero) == [false])
    }
}

/// Commits that wait for an unavailable standby, after this process has given up on them.
@Suite struct AbandonedBackendTests {
    @Test func `are ended on the server at once, without another call`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { pool, _ in
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE usename = 'siwa' AND wait_event = 'SyncRep'
                """
            try await pool.run { $0.deadlines.response = .milliseconds(300) }
            try await cluster.superuserQuery("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
            try await cluster.superuserQuery("SELECT pg_reload_conf()")
            #expect(
                await recovers {
                    // A server that has not read its configuration yet takes it.
                    do {
                        try await pool.run { _ = try $0.run(.writeToProbe) }
                        throw CancellationError()
                    } catch is StorageError {}
                })
            #expect(
                await recovers {
                    guard try await cluster.superuserQuery(waiting) == "0" else { throw CancellationError() }
                })
        }
        try await cluster.remove()
    }

    @Test func `the report names the standby that a commit waits for`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false)
        try await cluster.use(connections: 1) { _, _ in
            let reports = Mutex<[StorageError]>([])
            let pool = PostgresPool(
                try PostgresURL(try await cluster.makeDatabase()), connections: 2,
                onFailure: { error in reports.withLock { $0.append(error) } })
            pool.reportFailures()
            try await pool.run { session in
                _ = try session.run(
                    PostgresCall(PostgresStatement("make_table", "CREATE TABLE written (id integer)")))
            }
            try await cluster.setSynchronousStandbys("gone")
            let write = PostgresCall(PostgresStatement("write_row", "INSERT INTO written VALUES (1)"))
            #expect(
                await recovers {
                    do {
                        try await pool.run { session in
                            session.deadlines.response = .milliseconds(300)
                            _ = try session.run(write)
                        }
                        throw CancellationError()
                    } catch is StorageError {}
                })
            #expect(
                await recovers {
                    let found = reports.withLock { $0 }
                    guard !found.isEmpty, found.allSatisfy({ $0.detail.contains("'gone'") }) else {
                        throw CancellationError()
                    }
                })
            #expect(reports.withLock { $0.allSatisfy { $0.databaseCode == "08006" } })
            await pool.close()
            try await cluster.setSynchronousStandbys("")
        }
        try await cluster.remove()
    }

    @Test func `a process that has its number from another time is left alone`() async throws {
        let cluster = try await PostgresCluster.shared()
        try await cluster.use(connections: 2) { pool, _ in
            let backend = try #require(try await pool.run { $0.backend })
            let abandoned = AbandonedBackends()
            abandoned.add(Backend(process: backend.process, began: backend.began - 1))
            try await pool.run { session in
                abandoned.end(in: session)
                _ = try session.run(.one)
            }
        }
    }
}
