import Logging
import PostgresCluster
import TestSupport
import Testing

@testable import PostgresStorage

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
