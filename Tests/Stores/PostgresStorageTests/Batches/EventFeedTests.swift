import AppleAccounts
import Logging
import PostgresCluster
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// The feed with many writers, whose transactions are slow or are rolled back.
@Suite struct EventFeedTests {
    private static let writers = 8
    private static let batches = 40

    @Test func `tells every event once and in order, without gap, while eight write`() async throws {
        try await Replicas.with(Self.writers + 1) { replicas in
            // The number of the last event of each commit, once it is answered.
            let (responses, answered) = AsyncStream.makeStream(
                of: Int64.self, bufferingPolicy: .bufferingNewest(1))
            async let seen = Self.follow(replicas.stores[Self.writers], responses)
            let told = try await withThrowingTaskGroup(of: Int64.self) { group in
                // Also when a writer fails: that ends the test.
                defer { answered.finish() }
                for number in 0..<Self.writers {
                    group.addTask { try await Self.write(replicas.stores[number], number, answered) }
                }
                group.addTask { try await Self.disturb(replicas.stores[0], answered) }
                return try await group.reduce(0) { max($0, $1) }
            }
            let events = try await seen

            #expect(events.map(\.sequence) == Array(1...Int64(events.count)))
            #expect(events.last?.sequence == told)
            #expect(Set(events.map(\.id)).count == events.count)
            // Each writer's own users in the order in which it had them acknowledged, and all of them.
            for number in 0..<Self.writers {
                let own = events.filter {
                    $0.kind == .accountCreated && $0.subject?.rawValue.hasPrefix("w\(number)-") == true
                }
                #expect(own.compactMap(\.subject) == (0..<Self.batches).map { "w\(number)-\($0 + 100)" })
            }
            let shared = events.filter {
                $0.kind == .accountCreated && $0.subject?.rawValue.hasPrefix("shared") == true
            }
            #expect(shared.count == Self.batches)
        }
    }

    /// Reads the feed to its end after each commit. Returns the events in the order of reading.
    ///
    /// The reader waits between reads. Without a pause, Linux may not schedule the other server processes for
    /// up to 10 seconds, including the holder of the event counter, so that the writers reach their lock
    /// time-out.
    private static func follow(
        _ store: PostgresAccountStore, _ responses: AsyncStream<Int64>
    ) async throws -> [AccountEvent] {
        var events: [AccountEvent] = []
        var cursor: Int64 = 0
        for await sequence in responses {
            var hasMore = true
            while hasMore {
                let page = try await store.events(after: cursor, limit: 50, visibleTo: .all)
                events += page.events
                (cursor, hasMore) = (page.cursor, page.hasMore)
            }
            // A read sees every commit that was answered before it.
            #expect(cursor >= sequence)
        }
        return events
    }

    /// Writes batches with a user of the writer's own and a user of all writers, so that some transactions
    /// must be repeated. Returns the number of the last event.
    private static func write(
        _ store: PostgresAccountStore, _ number: Int, _ answered: AsyncStream<Int64>.Continuation
    ) async throws -> Int64 {
        var last: Int64 = 0
        for batch in 0..<batches {
            let own = AccountCommand.signIn(.sample(key: .sample("w\(number)-\(batch + 100)")))
            let shared = AccountCommand.signIn(.sample(key: .sample("shared-\(batch)")))
            let result = try await store.commit(number % 2 == 0 ? [own, shared] : [shared, own])
            last = max(last, result.lastEventSequence ?? 0)
            answered.yield(last)
        }
        return last
    }

    /// Runs transactions that reserve numbers for a while; half of the transactions are rolled back.
    private static func disturb(
        _ store: PostgresAccountStore, _ answered: AsyncStream<Int64>.Continuation
    ) async throws -> Int64 {
        try await store.signIn(.sample(key: .sample("disturbed")))
        var last: Int64 = 0
        for round in 0..<20 {
            last = try await store.pool.run { session in
                // A user whom no other writer locks: a store has locked those that its events are about.
                let rowID = try session.run(
                    PostgresCall(
                        PostgresStatement("test_any", "SELECT id FROM subject WHERE sub = 'disturbed'")))
                var events = EventAppending()
                for _ in 0...round % 3 {
                    var generator = SystemRandomNumberGenerator()
                    let id = EventID(UniqueID(at: 1000, using: &generator))
                    events.add(
                        AccountEvent(
                            id: id, kind: .emailChanged, key: .sample("disturbed"), moment: 1000,
                            recordedAt: 1000),
                        rowID: try #require(rowID.integer(0, 0)))
                }
                let responses = try session.pipeline([
                    .begin, try events.call(session.names),
                    PostgresCall(PostgresStatement("test_slowly", "SELECT pg_sleep(0.02)")),
                ])
                _ = try session.run(round % 2 == 0 ? .rollback : .commit)
                return round % 2 == 0 ? 0 : try #require(responses[1].integer(0, 0))
            }
            answered.yield(last)
        }
        return last
    }
}

@Suite struct EventAnnouncementsTests {
    @Test func `hears of commits, also after the connection was lost, and ends when cancelled`() async throws
    {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let name = url.split(separator: "/").last.map(String.init) ?? ""
        let database = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        let (numbers, heard) = AsyncStream<Int64>.makeStream()
        let listening = Task { await database.announcements { heard.yield($0) } }
        var next = numbers.makeAsyncIterator()

        func append(_ number: Int) async throws {
            try await cluster.superuserQuery(
                "UPDATE event_counter SET last_sequence = \(number); NOTIFY siwa_events, '\(number)'",
                in: name)
        }
        try await append(1)
        #expect(await next.next() == 1)
        try await append(2)
        #expect(await next.next() == 2)
        try await cluster.superuserQuery(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try await append(3)
        #expect(await next.next() == 3)
        // Without an announcement, as behind a pooler.
        try await cluster.superuserQuery("UPDATE event_counter SET last_sequence = 4", in: name)
        #expect(await next.next() == 4)
        listening.cancel()
        await listening.value
        await database.close()
    }
}
