import AppleAccounts
import HTTPAPI
import KeySets
import Logging
import Pages
import StorageConformance
import Synchronization
import Testing

@testable import Console

@Suite struct OverviewPagesTests {
    private static let now = Moment(milliseconds: 1_764_100_000_000)

    private static func pages(
        _ condition: ServiceCondition = .sample, totals: NumberSeries.Counts = [:],
        card: OverviewPages.OtherCard? = nil
    ) -> OverviewPages {
        let numbers = ServiceNumbers(
            totals: { totals }, store: ReferenceStore(), replica: "a", now: { now },
            logger: Logger(label: "test"))
        numbers.read()
        return OverviewPages(
            numbers: numbers, monitor: OverviewMonitor(numbers: numbers, look: { condition }),
            version: "1.2.3",
            findings: {
                DoctorFindings(
                    findings: [
                        DoctorFindings.Finding("clock", .good, "agrees"),
                        DoctorFindings.Finding("public URL", .wrong, "is <none>", advice: "Set it."),
                    ], checkedAt: now, isRunning: false)
            },
            keys: {
                [
                    KeyCondition(
                        use: "Seals stored values", name: "k1", fingerprint: "ab12",
                        age: .firstSeen(now.advanced(byMilliseconds: -3 * 86_400_000))),
                    KeyCondition(use: "Opens", name: "k0", fingerprint: "cd34", age: .notSeen),
                    KeyCondition(use: "Signs", name: "ES256", fingerprint: "ef56", age: .made(now)),
                    KeyCondition(use: "Signs", name: "RS256", fingerprint: "0178", age: .unknown),
                    shutKey,
                ]
            }, retireKey: { $0 == "kid9" }, card: card)
    }

    private static var shutKey: KeyCondition {
        var key = KeyCondition(use: "Signs", name: "ES256", fingerprint: "kid", age: .made(now))
        key.shutKeyID = "kid9"
        return key
    }

    @Test func `a key that does not open can be retired, and no other`() async throws {
        let pages = Self.pages()
        let text = try await Self.page(pages)
        #expect(text.split(separator: "does not open").count == 2, "one key alone")
        #expect(text.contains("name=\"key\" value=\"kid9\""))
        let answer = try await Self.answer(pages, "/overview/retire-key", form: ["key": "kid9"])
        guard case .redirect = answer else {
            Issue.record("not retired: \(answer)")
            return
        }
        for form in [["key": "kid1"], [:]] {
            let answer = try await Self.answer(pages, "/overview/retire-key", form: form)
            guard case .refused = answer else {
                Issue.record("retired: \(answer)")
                continue
            }
        }
        let page = try #require(pages.pages.first { $0.path == "/overview/retire-key" })
        guard case .operatorsOfAllApps = page.access else {
            Issue.record("open to others")
            return
        }
    }

    /// Renders the overview for an operator.
    private static func page(
        _ pages: OverviewPages, scope: AppScope = .all, query: [String: String] = [:]
    ) async throws -> String {
        let answer = try await answer(pages, "/overview", scope: scope, query: query)
        guard case .page(_, let isLive, let content) = answer else {
            Issue.record("no page: \(answer)")
            return ""
        }
        #expect(isLive)
        return content.string
    }

    private static func answer(
        _ pages: OverviewPages, _ path: String, scope: AppScope = .all, query: [String: String] = [:],
        form: [String: String] = [:]
    ) async throws -> ConsoleAnswer {
        let page = try #require(pages.pages.first { $0.path == path })
        return try await page.handle(
            ConsoleRequest(
                requestID: "r", query: query, form: form,
                viewer: ConsoleViewer(
                    name: "ops", scope: scope, isDevelopment: false, formToken: "token"),
                now: now))
    }

    @Test func `names the checks that found something wrong, and shows numbers, queues, keys and findings`()
        async throws
    {
        var condition = ServiceCondition.sample
        condition.queues = [QueueCondition(.erasure, count: 4, oldest: 90)]
        let text = try await Self.page(Self.pages(condition, totals: [.signIn: 41, .notification: 1]))
        for words in [
            "found something wrong: <strong>public URL</strong>", "siwa 1.2.3", "<svg class=\"plot\"",
            "Sign-ins 41", "Erasures at Apple",
            "90 seconds", "at this replica", "first seen 3 days ago", "not at the last start",
            "made now", "<td>–</td>", "ab12", "is &lt;none&gt;", "Set it.",
            "Good: clock.", "aria-current=\"page\">Last hour",
        ] { #expect(text.contains(words), "\(words)") }
        #expect(!text.contains("Nothing is wrong."))
        #expect(!text.contains("style=") && !text.contains("<script") && !text.contains("Try it"))
    }

    @Test func `shows until when Apple is asked about erasures`() async throws {
        var condition = ServiceCondition.sample
        condition.queues = [QueueCondition(.erasure, count: 4, oldest: 90)]
        #expect(try await !Self.page(Self.pages(condition)).contains("is given up"))
        condition.queues[0].deadline = Moment(milliseconds: 1_764_200_000_000)
        #expect(
            try await Self.page(Self.pages(condition)).contains("the first is given up 2025-11-26 23:33 UTC"))
    }

    @Test func `says of sealed values only what was tried`() async throws {
        func page(_ change: (inout ServiceCondition) -> Void) async throws -> String {
            var condition = ServiceCondition.sample
            change(&condition)
            return try await Self.page(Self.pages(condition))
        }
        #expect(try await page { _ in }.contains("<p class=\"muted\">no sealing key</p>"))
        #expect(
            try await page { $0.hasSealingKeys = true }.contains("<p class=\"muted\">none to open yet</p>"))
        let good = try await page { ($0.hasSealingKeys, $0.sampledValues) = (true, 12) }
        #expect(good.contains("<p class=\"good\">open</p>") && good.contains("a sample of 12"))
        let bad = try await page { ($0.unreadableValues, $0.sampledValues) = (7, 12) }
        #expect(bad.contains("<p class=\"bad\">7 do not open</p>"))
    }

    @Test func `does not call keys confirmed and not confirmed at once`() async throws {
        var condition = ServiceCondition.sample
        condition.keys = KeySetHealth(status: .stale(.timedOut), keyCount: 3)
        let page = try await Self.page(Self.pages(condition))
        #expect(page.contains("3 usable, the last fetch failed") && !page.contains("not confirmed"))
    }

    @Test func `says what is not known yet when nothing is wrong`() {
        func text(_ condition: ServiceCondition, checkedAt: Moment?) -> String {
            OverviewPages.wrongNow(
                condition, [], DoctorFindings(findings: [], checkedAt: checkedAt, isRunning: false),
                seesNumbers: true
            ).string
        }
        var condition = ServiceCondition.sample
        condition.secondsAhead = 0
        #expect(text(condition, checkedAt: Self.now).contains("Nothing is wrong.</p>"))
        condition.secondsAhead = nil
        condition.keys = KeySetHealth(status: .unavailable(nil), keyCount: 0)
        let words = "Not known yet: Apple&#39;s keys, the clock, the checks below."
        #expect(text(condition, checkedAt: nil).contains(words))
    }

    @Test(arguments: TroubleTests.faults) func `each cause is the first thing on the page`(
        fault: TroubleTests.Fault
    ) async throws {
        var condition = ServiceCondition.sample
        fault.change(&condition)
        // The monitor fills the counts in; here they are given.
        let trouble = try #require(condition.troubles.first)
        let text = OverviewPages.wrongNow(
            condition, [DatedTrouble(trouble: trouble, since: Self.now)], nil, seesNumbers: true
        ).string
        let first = try #require(text.firstRange(of: "<article"))
        #expect(text[first.lowerBound...].contains("data-trouble=\"\(fault.kind.rawValue)\""))
        #expect(text.contains("<dt>What to do</dt>") && text.contains("2025-11-25T19:46:40Z"))
        #expect(text.contains("Nothing is wrong.") == (fault.severity == .note))
    }

    @Test func `an operator of some apps sees the state, and no number`() async throws {
        var condition = ServiceCondition.sample
        condition.secondsAhead = -600
        condition.google = (failing: 3, attempts: 1, failingSince: Self.now)
        let pages = Self.pages(condition, totals: [.signIn: 41, .revoked: 7])
        let text = try await Self.page(pages, scope: .only([]))
        #expect(
            text.contains("10 minutes slow") && text.contains("the numbers are of all apps".capitalizedFirst))
        // The pages that show more are not for this operator.
        for words in ["<svg", "Google", "41", "ab12", "public URL", "7 people", "<dt>See</dt>"] {
            #expect(!text.contains(words), "\(words)")
        }
    }

    @Test func `an operator of some apps reads of troubles of all apps without their numbers`() async throws {
        let pages = Self.pages(totals: [.turnedAway: 7391, .checkRejected: 7392, .secretRefused: 7393])
        let text = try await Self.page(pages, scope: .only([]))
        for words in ["overloaded", "do not arrive", "refuses the client secrets"] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(!text.contains("739"))
        let all = try await Self.page(pages)
        for number in ["7391", "7392", "7393"] { #expect(all.contains(number), "\(number)") }
    }

    @Test func `the day comes from the hours of all replicas`() async throws {
        let text = try await Self.page(Self.pages(totals: [.signIn: 41]), query: ["period": "day"])
        #expect(text.contains("By hour over the last day: Sign-ins 41."))
        #expect(text.contains("aria-current=\"page\">Last day"))
        let other = try await Self.page(Self.pages(), query: ["period": "<script>"])
        #expect(other.contains("aria-current=\"page\">Last hour") && !other.contains("<script>"))
    }

    @Test func `a card of another module is a part of the page, and has the token of its forms`() async throws
    {
        let card: OverviewPages.OtherCard = { "<p>\("<b>" as String) \($0.viewer.formToken)</p>" }
        #expect(try await Self.page(Self.pages(card: card)).contains("<p>&lt;b&gt; token</p>"))
        #expect(try await !Self.page(Self.pages()).contains("<p>&lt;b&gt;"))
    }

    @Test func `there is no page of development`() {
        #expect(Self.pages().pages.map(\.path) == ["/overview", "/overview/retire-key"])
    }

    @Test func `the monitor says since when`() async throws {
        let clock = Mutex(Self.now)
        let condition = Mutex(ServiceCondition.sample)
        let changes = Mutex(0)
        let numbers = ServiceNumbers(
            totals: { [:] }, store: ReferenceStore(), replica: "a", now: { clock.withLock { $0 } },
            logger: Logger(label: "test"))
        let monitor = OverviewMonitor(
            numbers: numbers, onChange: { changes.withLock { $0 += 1 } },
            look: {
                var seen = condition.withLock { $0 }
                seen.now = clock.withLock { $0 }
                return seen
            })
        #expect(await monitor.lookNow().troubles == [])
        condition.withLock { $0.secondsAhead = -600 }
        clock.withLock { $0 = $0.advanced(byMilliseconds: 5000) }
        #expect(await monitor.lookNow().troubles.map(\.since) == [Self.now.advanced(byMilliseconds: 5000)])
        clock.withLock { $0 = $0.advanced(byMilliseconds: 60_000) }
        #expect(await monitor.lookNow().troubles.map(\.since) == [Self.now.advanced(byMilliseconds: 5000)])
        #expect(await monitor.latest().troubles.count == 1)
        #expect(changes.withLock { $0 } == 1)
    }

    @Test func `an operator without a session learns of the database first, also before the next look`()
        async throws
    {
        var condition = ServiceCondition.sample
        condition.secondsAhead = -600
        condition.hour = [.revoked: 1]
        let seen = condition
        let numbers = ServiceNumbers(
            totals: { [:] }, store: ReferenceStore(), replica: "a", now: { Self.now },
            logger: Logger(label: "test"))
        let monitor = OverviewMonitor(numbers: numbers, look: { seen })
        let full = StorageError(.full, detail: "No space left")
        #expect(monitor.troubles(after: full) == [])
        await monitor.lookNow()
        #expect(monitor.troubles(after: full).map(\.trouble.kind) == [.databaseFull, .clockWrong])
        #expect(monitor.troubles(after: CancellationError()).map(\.trouble.kind) == [.clockWrong])
        condition.databaseFailure = StorageError(.busy, detail: "locked")
        let locked = condition
        let other = OverviewMonitor(numbers: numbers, look: { locked })
        await other.lookNow()
        #expect(other.troubles(after: full).map(\.trouble.kind) == [.databaseLocked, .clockWrong])
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
