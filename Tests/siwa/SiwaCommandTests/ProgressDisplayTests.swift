import AppleAccounts
import Console
import HTTPAPI
import KeySets
import Logging
import SQLiteStorage
import TestSupport
import Testing

@testable import Composition
@testable import siwa

@Suite struct ProgressDisplayTests {
    @Test func `a terminal gets a bar that redraws itself, not too often`() {
        var display = ProgressDisplay(title: "work", total: 200, isTerminal: true)
        let first = display.update(done: 50, after: .seconds(5))
        #expect(first == "\rwork [######------------------] 25 %, 50 of 200, 10/s, 15 s left\u{1B}[K")
        #expect(display.update(done: 51, after: .seconds(5) + .milliseconds(99)) == nil)
        #expect(display.update(done: 52, after: .seconds(5) + .milliseconds(100)) != nil)
    }

    @Test(arguments: [1, 10, 30, 45, 60, 79])
    func `the bar is shorter than a line of the terminal`(columns: Int) {
        var display = ProgressDisplay(title: "asking Apple", total: 2_000_000, isTerminal: true)
        display.columns = columns
        let line = display.update(done: 1_234_567, after: .seconds(3600)) ?? ""
        let shown = line.dropFirst().dropLast(3)
        #expect((1...max(1, columns - 1)).contains(shown.count), "\(shown)")
        #expect(shown.contains("[") == (columns == 79))
    }

    @Test func `a pipe gets a line for each tenth`() {
        var display = ProgressDisplay(title: "work", total: 100, isTerminal: false)
        let lines = (1...100).compactMap { display.update(done: $0, after: .milliseconds($0)) }
        #expect(lines.count == 10)
        #expect(lines.first == "work: 10 %, 10 of 100\n")
        #expect(lines.allSatisfy { !$0.contains("\r") && !$0.contains("\u{1B}") })
    }

    @Test func `a pipe gets a line every half minute when it takes long`() {
        var display = ProgressDisplay(title: "work", total: 1_000_000, isTerminal: false)
        let lines = (1...100).compactMap { display.update(done: $0, after: .seconds($0)) }
        #expect(lines.count == 3)
        #expect(lines.first == "work: 0 %, 30 of 1000000, 60/min, 277 h 46 min left\n")
    }

    @Test(arguments: [(100, 1), (101, 2)])
    func `a pipe gets the last line once`(total: Int, lines: Int) {
        var display = ProgressDisplay(title: "work", total: total, isTerminal: false)
        let texts = [display.update(done: 100, after: .zero), display.end(done: total, after: .zero)]
        #expect(texts.compactMap { $0 }.count == lines)
        #expect(texts.compactMap { $0 }.last == "work: 100 %, \(total) of \(total)\n")
    }

    @Test(arguments: [true, false])
    func `the end is always written, also for an empty total`(isTerminal: Bool) {
        let display = ProgressDisplay(title: "work", total: 0, isTerminal: isTerminal)
        #expect(display.end(done: 0, after: .zero)?.contains("100 %, 0 of 0") == true)
        #expect(display.end(done: 0, after: .zero)?.hasSuffix("\n") == true)
    }
}

@Suite struct TerminalLogLinesTests {
    private static func shorten(_ text: String, hasColors: Bool = false) -> String {
        String(decoding: TerminalLogLines(hasColors: hasColors).shorten(Array(text.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (
            #"time=2026-11-24T00:19:44.123Z level=info logger=siwa msg="Server started" port=8080"#,
            "00:19:44 Server started port=8080"
        ),
        (
            #"time=2026-11-24T00:19:44.123Z level=warning logger=siwa msg=late cause="a b=\"c\"""#,
            #"00:19:44 warning late cause="a b=\"c\"""#
        ),
        (
            #"time=2026-11-24T00:19:44.123Z level=info request=01A method=GET status=200"#,
            "00:19:44 request=01A method=GET status=200"
        ),
        (#"time=2026-11-24T00:19:44.123Z level=info msg="a\u{a}b""#, #"00:19:44 "a\u{a}b""#),
        (
            #"level=warning msg="log lines dropped" count=3"#,
            #"level=warning msg="log lines dropped" count=3"#
        ),
        ("not a line of ours", "not a line of ours"), ("time=", "time="),
        (#"time=2026-11-24T00:19:44.123Z level=info msg="open"#, #"00:19:44 ope"#),
    ])
    func `a line has the time of day, the message and the fields`(line: String, expected: String) {
        #expect(Self.shorten(line + "\n") == expected + "\n")
        #expect(Self.shorten("\(line)\n\(line)\n") == "\(expected)\n\(expected)\n")
    }

    @Test func `only a terminal with colors gets them`() {
        let line = "time=2026-11-24T00:19:44.123Z level=error msg=x\n"
        #expect(Self.shorten(line, hasColors: true).contains("\u{1B}[31merror\u{1B}[0m"))
        #expect(!Self.shorten(line).contains("\u{1B}"))
        #expect(TerminalStyle.hasColors(["TERM": "xterm"]))
        #expect(!TerminalStyle.hasColors(["TERM": "xterm", "NO_COLOR": "1"]))
        #expect(!TerminalStyle.hasColors(["TERM": "dumb"]) && !TerminalStyle.hasColors([:]))
    }
}

/// Numbers about waiting work and the database in the metrics.
@Suite struct WorkMonitorTests {
    private static func moment(_ seconds: Int64) -> Moment { Moment(milliseconds: seconds * 1000) }

    @Test(
        arguments: [(.exchange, 3, 60), (.check, 10_000, 0), (.erasure, 0, 0), (.receipt, nil, 21)]
            as [(QueueCondition.Name, Int64?, Int64)])
    func `the age of work counts from when it was due, and work of the future has none`(
        queue: QueueCondition.Name, count: Int64?, age: Int64
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

@Suite struct WaitingWorkTests {
    private static let hour: Int64 = 3_600_000

    private static func receiver(
        _ name: String, cursor: Int64, retries: [DeliveryRetry] = []
    ) throws -> ClaimedReceiver {
        ClaimedReceiver(
            record: ReceiverRecord(
                name: try #require(ReceiverName(name)), cursor: cursor, notBefore: Moment(milliseconds: 0),
                pausedAt: nil), retries: retries)
    }

    private static func event(_ sequence: Int64, recordedAt: Moment) throws -> AccountEvent {
        AccountEvent(
            sequence: sequence, id: EventID(UniqueID(high: 1, low: UInt64(sequence))), kind: .profileChanged,
            team: try #require(TeamID("A1B2C3D4E5")), subject: nil, moment: recordedAt, recordedAt: recordedAt
        )
    }

    @Test func `the age of events is that of the first that a receiver has not got, without any failure`()
        throws
    {
        let work = WaitingWork(
            receivers: [
                try Self.receiver("late", cursor: 3), try Self.receiver("done", cursor: 9),
                try Self.receiver(
                    "failing", cursor: 9,
                    retries: [
                        DeliveryRetry(
                            sequence: 2, attempts: 4, dueAt: Moment(milliseconds: 9 * Self.hour),
                            waitingSince: Moment(milliseconds: Self.hour))
                    ]),
            ], next: [try Self.event(4, recordedAt: Moment(milliseconds: 2 * Self.hour))], deadline: nil)
        let ages = Dictionary(uniqueKeysWithValues: work.oldest.map { ($0.key.rawValue, $0.value) })
        #expect(
            ages == ["late": Moment(milliseconds: 2 * Self.hour), "failing": Moment(milliseconds: Self.hour)])
    }

    @Test func `the overview has the age and the deadline`() throws {
        let registry = MetricsRegistry()
        let now = Moment(milliseconds: 10 * Self.hour)
        var condition = ServiceCondition(now: now, keys: KeySetHealth(status: .ready, keyCount: 1))
        condition.queues = [QueueCondition(.erasure, count: 1, oldest: 0)]
        let deadline = Moment(milliseconds: 99 * Self.hour)
        condition.add(WaitingWork(receivers: [], next: [], deadline: deadline), waiting: registry, at: now)
        #expect(condition.queues.map(\.deadline) == [deadline])
    }
}
