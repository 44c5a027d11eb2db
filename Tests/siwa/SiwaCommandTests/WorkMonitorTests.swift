import AppleAccounts
import HTTPAPI
import Logging
import SQLiteStorage
import TestSupport
import Testing

@testable import siwa

/// Numbers about waiting work and the database in the metrics.
@Suite struct WorkMonitorTests {
    private static func moment(_ seconds: Int64) -> Moment { Moment(milliseconds: seconds * 1000) }

    @Test(
        arguments: [
            (.exchange, 3, 60), (.check, 10_000, 0), (.erasure, 0, 0), (.receipt, nil, 21),
        ] as [(WorkMonitor.Queue, Int64?, Int64)])
    func `the age of work counts from when it was due, and work of the future has none`(
        queue: WorkMonitor.Queue, count: Int64?, age: Int64
    ) {
        let work = queue.work(
            AppleTokensBacklog(
                codes: AppleTokensBacklog.Queue(count: 3, since: Self.moment(1)),
                checks: AppleTokensBacklog.Queue(count: 10_000, since: Self.moment(100))),
            nextReceipt: Self.moment(40), at: Self.moment(61))
        #expect(work.count == count)
        #expect(work.age == age)
    }

    @Test func `shows the queues, the feed and the room on the disk`() async throws {
        try await TemporaryDirectory.with { directory in
            let observation = ProcessObservation(level: .critical) { _ in }
            let database = try await SQLiteDatabase.open(
                path: directory.path(of: "siwa.sqlite"), logger: .silent)
            let monitor = WorkMonitor(
                store: database.accounts, database: database, factory: observation.registry,
                now: { Self.moment(61) })
            await monitor.look()
            let text = String(decoding: observation.registry.text(), as: UTF8.self)
            for queue in ["exchange", "check", "erasure"] {
                #expect(text.contains("\nsiwa_work_waiting{queue=\"\(queue)\"} 0\n"))
                #expect(text.contains("\nsiwa_work_oldest_seconds{queue=\"\(queue)\"} 0\n"))
            }
            #expect(text.contains("\nsiwa_event_sequence 0\n"))
            let free = text.firstMatch(of: /\nsiwa_database_disk_free_bytes (\d+)\n/)
            #expect((Int64(free?.1 ?? "") ?? 0) > 1 << 20)
            await database.close()
            await monitor.look()
            let later = String(decoding: observation.registry.text(), as: UTF8.self)
            for queue in ["exchange", "check", "erasure"] {
                #expect(later.contains("\nsiwa_work_waiting{queue=\"\(queue)\"} NaN\n"))
                #expect(later.contains("\nsiwa_work_oldest_seconds{queue=\"\(queue)\"} NaN\n"))
            }
        }
    }
}
