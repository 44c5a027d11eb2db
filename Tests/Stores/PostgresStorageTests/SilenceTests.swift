import AppleAccounts
import PostgresCluster
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
