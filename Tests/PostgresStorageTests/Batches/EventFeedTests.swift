import AppleAccounts
import StorageConformance
import Synchronization
import Testing

@testable import PostgresStorage

/// The feed with many writers, whose transactions take their time or come to nothing.
@Suite struct EventFeedTests {
    private static let writers = 8
    private static let batches = 40

    @Test func `tells every event once and in order, without gap, while eight write`() async throws {
        try await Replicas.with(Self.writers + 1) { replicas in
            let reader = replicas.stores[Self.writers]
            let isWritten = Mutex(false)
            async let seen = Self.follow(reader) { isWritten.withLock { $0 } }
            let told = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<Self.writers {
                    group.addTask { try await Self.write(replicas.stores[number], number) }
                }
                group.addTask { try await Self.disturb(replicas.stores[0]) }
                return try await group.reduce(0) { max($0, $1) }
            }
            isWritten.withLock { $0 = true }
            let events = try await seen

            #expect(events.map(\.sequence) == Array(1...Int64(events.count)))
            #expect(events.last?.sequence == told)
            #expect(Set(events.map(\.id)).count == events.count)
            // Each writer's own persons in the order in which it had them acknowledged, and all of them.
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

    /// Reads until all is written and read. Returns what it saw, in the order in which it saw it.
    private static func follow(
        _ store: PostgresAccountStore, until isWritten: @Sendable () -> Bool
    ) async throws -> [AccountEvent] {
        var events: [AccountEvent] = []
        var cursor: Int64 = 0
        while true {
            // A writer that failed must end the test, and not be waited for.
            try Task.checkCancellation()
            let isLast = isWritten()
            let page = try await store.events(after: cursor, limit: 50, visibleTo: .all)
            events += page.events
            cursor = page.cursor
            if isLast, !page.hasMore { return events }
        }
    }

    /// Batches with a person of the writer's own, and one whom all writers meet at the same time, so that
    /// some of the transactions have to be begun again. Returns the number of its last event.
    private static func write(_ store: PostgresAccountStore, _ number: Int) async throws -> Int64 {
        var last: Int64 = 0
        for batch in 0..<batches {
            let own = AccountCommand.signIn(.sample(key: .sample("w\(number)-\(batch + 100)")))
            let shared = AccountCommand.signIn(.sample(key: .sample("shared-\(batch)")))
            let result = try await store.commit(number % 2 == 0 ? [own, shared] : [shared, own])
            last = max(last, result.lastEventSequence ?? 0)
        }
        return last
    }

    /// Transactions that take numbers and keep them for a while, half of them to give them back.
    private static func disturb(_ store: PostgresAccountStore) async throws -> Int64 {
        try await store.signIn(.sample(key: .sample("disturbed")))
        var last: Int64 = 0
        for round in 0..<20 {
            last = try await store.pool.run { session in
                // A person whom no other writer locks: a store has locked those that its events are about.
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
                let answers = try session.pipeline([
                    .begin, try events.call(session.names),
                    PostgresCall(PostgresStatement("test_slowly", "SELECT pg_sleep(0.02)")),
                ])
                _ = try session.run(round % 2 == 0 ? .rollback : .commit)
                return round % 2 == 0 ? 0 : try #require(answers[1].integer(0, 0))
            }
        }
        return last
    }
}
