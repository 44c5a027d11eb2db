import AppleAccounts
import Commits
import Logging
import Metrics
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import SignIn

@Suite(.timeLimit(.hung)) struct ClaimLoopTests {
    /// Work that ends as its number says.
    struct Numbers: Worker {
        static let traits = WorkerTraits(
            width: 8, longestLook: .seconds(60), failurePause: .seconds(5), unclaimed: "no numbers",
            counter: "numbers", help: "Numbers by result.")

        enum WorkResult: String, CountedResult {
            case even, odd
        }

        struct Failure: Error {}

        final class State: Sendable {
            let due = Mutex<[Int]>([])
            let isAway = Mutex(false)
            let stored = Mutex<[Int]>([])
        }

        let state = State()
        let context: WorkerContext<WorkResult>
        let claimPace: SharedPace?

        init(clock: ManualClock, logger: Logger, pace: SharedPace? = nil) {
            context = WorkerContext(
                for: Self.self, signals: WorkerSignals(), clock: clock,
                now: { Moment(milliseconds: clock.millisecondsSince1970) }, logger: logger)
            claimPace = pace
        }

        func claim(limit: Int, at moment: Moment) async throws -> [Int] {
            if state.isAway.withLock({ $0 }) { throw Failure() }
            return state.due.withLock { due in
                defer { due.removeFirst(min(limit, due.count)) }
                return Array(due.prefix(limit))
            }
        }

        func nextDue() async throws -> Moment? { 7000 }

        func perform(_ number: Int) async -> WorkOutcome<WorkResult> {
            guard number >= 0 else { return .cutOff }
            guard number.isMultiple(of: 2) else { return .ended(.odd) }
            return .ends(
                .even,
                with: ClaimEnd(unstored: "a number was not stored") {
                    if state.isAway.withLock({ $0 }) { throw Failure() }
                    state.stored.withLock { $0.append(number) }
                })
        }

        func clientID(of number: Int) -> String { "\(number)" }

        func logMetadata(of number: Int) -> Logger.Metadata { ["number": "\(number)"] }
    }

    let clock = ManualClock()
    let lines = CountedLines()

    @Test func `counts each result, stores the end of a claim, and logs when it cannot`() async {
        let metrics = RecordingMetrics()
        await withMetricsFactory(metrics) {
            let worker = Numbers(clock: clock, logger: lines.logger)
            let loop = ClaimLoop(worker)
            for number in [1, 2, -1] { await loop.perform(number) }
            #expect(worker.state.stored.withLock { $0 } == [2])
            #expect(lines.count == 0)
            worker.state.isAway.withLock { $0 = true }
            for _ in 0..<3 { await loop.perform(4) }
            // The same line is throttled.
            #expect(lines.count == 1)
            #expect(metrics.values(of: "numbers odd") == [1])
            #expect(metrics.values(of: "numbers even") == [1, 1, 1, 1])
        }
    }

    @Test func `looks again when something will be due, and pauses when the database is away`() async {
        let worker = Numbers(clock: clock, logger: lines.logger)
        let loop = ClaimLoop(worker)
        worker.state.due.withLock { $0 = Array(0..<5) }
        let first = await loop.claim(3)
        #expect(first.work == [0, 1, 2])
        let second = await loop.claim(3)
        #expect(second.work == [3, 4])
        #expect(second.nextLook == .seconds(7))
        worker.state.isAway.withLock { $0 = true }
        let third = await loop.claim(3)
        #expect(third.isPause)
        #expect(third.nextLook == .seconds(5))
        #expect(lines.count == 1)
    }

    @Test func `claims no more than its pace admits, and gives back what it could not claim`() async {
        let pace = SharedPace(ApplePace(DailyCheck.paceLimits, perSecond: 4, at: 0))
        let worker = Numbers(clock: clock, logger: lines.logger, pace: pace)
        let loop = ClaimLoop(worker)
        worker.state.isAway.withLock { $0 = true }
        #expect(await loop.claim(8).isPause)
        worker.state.isAway.withLock { $0 = false }
        worker.state.due.withLock { $0 = [1] }
        #expect(await loop.claim(8).work == [1])
        worker.state.due.withLock { $0 = Array(2..<9) }
        #expect(await loop.claim(8).work == [2, 3, 4])
        let none = await loop.claim(8)
        #expect(none.work.isEmpty)
        // By then a quarter of the width is admitted.
        #expect(none.nextLook == .milliseconds(500))
        #expect(!none.isPause)
    }

    @Test func `each worker has a signal of its own`() {
        let signals = WorkerSignals()
        #expect(signals[Numbers.self] === signals[Numbers.self])
        #expect(signals[Numbers.self] !== signals[CodeExchange.self])
    }
}

@Suite struct BackoffTests {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(30))

    @Test(arguments: zip(1...8, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000] as [Int64]))
    func `doubles up to the longest, with at most a quarter more`(attempts: Int, base: Int64) {
        for _ in 0..<100 { #expect((base...base + base / 4).contains(backoff.delay(after: attempts))) }
    }

    @Test func `is spread`() { #expect(Set((0..<100).map { _ in backoff.delay(after: 6) }).count > 10) }

    @Test(arguments: [Int.min, -1, 0]) func `takes no attempt for the first`(attempts: Int) {
        #expect((1000...1250).contains(backoff.delay(after: attempts)))
    }

    @Test(arguments: [41, 63, 64, 1000, Int.max]) func `stays at the longest for ever`(attempts: Int) {
        #expect((30_000...37_500).contains(backoff.delay(after: attempts)))
        let hours = Backoff(first: .seconds(1), longest: .seconds(3600))
        #expect((3_600_000...4_500_000).contains(hours.delay(after: attempts)))
    }
}

@Suite struct StorageRetryTests {
    let clock = HurriedClock()

    private func store(failing failures: Int, with error: any Error) async throws -> Int {
        let calls = Mutex(0)
        try await StorageRetry(clock: clock).run {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call <= failures { throw error }
        }
        return calls.withLock { $0 }
    }

    @Test func `tries again until the database is back`() async throws {
        let error = StorageError(.unavailable, detail: "")
        #expect(try await store(failing: 0, with: error) == 1)
        #expect(clock.slept == .zero)
        #expect(try await store(failing: 7, with: error) == 8)
        #expect(clock.slept > .seconds(15))
        #expect(clock.slept < .seconds(40))
        #expect(try await store(failing: 2, with: OverloadedError()) == 3)
    }

    @Test func `gives up in the end`() async {
        await #expect(throws: StorageError(.busy, detail: "")) {
            try await store(failing: .max, with: StorageError(.busy, detail: ""))
        }
    }

    @Test func `does not argue with a refusal by the rules`() async {
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await store(failing: .max, with: AccountRefusal(.accountNotFound))
        }
        #expect(clock.slept == .zero)
    }
}

@Suite(.timeLimit(.hung)) struct WorkerPoolTests {
    /// Provides numbered pieces of work, which the test ends.
    final class Bench: Sendable {
        struct State {
            var due: [Int] = []
            var rooms: [Int] = []
            var running: [Int: CheckedContinuation<Void, Never>] = [:]
            var most = 0
            var done: [Int] = []
            var watchers: [CheckedContinuation<Bool, Never>] = []
        }

        let state = Mutex(State())

        func claim(_ room: Int, nextLook: Duration = .seconds(60)) -> WorkerPool<Int>.Claim {
            let work = state.withLock { state in
                state.rooms.append(room)
                defer { state.due.removeFirst(min(room, state.due.count)) }
                return Array(state.due.prefix(room))
            }
            return WorkerPool.Claim(work: work, nextLook: nextLook)
        }

        func perform(_ number: Int) async {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.running[number] = continuation
                    state.most = max(state.most, state.running.count)
                }
                wake()
            }
            state.withLock { $0.done.append(number) }
            wake()
        }

        func end(_ number: Int) { state.withLock { $0.running.removeValue(forKey: number) }?.resume() }

        func wake() {
            let watchers = state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers
            }
            for watcher in watchers { watcher.resume(returning: false) }
        }

        func until(_ condition: @Sendable (State) -> Bool) async {
            while true {
                let isThere = await withCheckedContinuation { continuation in
                    state.withLock { state in
                        if condition(state) { return continuation.resume(returning: true) }
                        state.watchers.append(continuation)
                    }
                }
                if isThere { return }
            }
        }
    }

    let bench = Bench()
    let signal = WakeupSignal()
    let clock = ManualClock()

    private func start(width: Int) -> Task<Void, Never> {
        let pool = WorkerPool<Int>(width: width, signal: signal, clock: clock)
        return Task { [bench] in
            await pool.run(claim: { bench.claim($0) }, perform: { await bench.perform($0) })
        }
    }

    @Test func `never does more at once than its width, and takes up what is left`() async {
        bench.state.withLock { $0.due = Array(0..<10) }
        let running = start(width: 4)
        await bench.until { $0.running.count == 4 }
        for number in 0..<10 {
            await bench.until { $0.running[number] != nil }
            bench.end(number)
        }
        await bench.until { $0.done.count == 10 }
        #expect(bench.state.withLock { $0.most } == 4)
        running.cancel()
        await running.value
    }

    @Test func `looks at once when it is rung for`() async {
        let running = start(width: 2)
        await clock.sleeper()
        bench.state.withLock { $0.due = [7] }
        signal.wake()
        await bench.until { $0.running[7] != nil }
        bench.end(7)
        await bench.until { $0.done == [7] }
        running.cancel()
        await running.value
    }

    @Test func `a minute without the database is 12 claims and one line more, however often it is rung for`()
        async
    {
        let lines = CountedLines()
        let log = ThrottledLog(lines.logger)
        let pool = WorkerPool<Int>(width: 2, signal: signal, clock: clock)
        let running = Task { [bench, clock] in
            await pool.run(
                claim: { capacity in
                    _ = bench.claim(capacity)
                    let now = Moment(milliseconds: clock.millisecondsSince1970)
                    log.tell("no work could be claimed", about: CancellationError(), at: now)
                    return .failed(pause: .seconds(5))
                }, perform: { await bench.perform($0) })
        }
        for second in 0..<60 {
            await clock.sleeper()
            for _ in 0..<1000 { signal.wake() }
            #expect(bench.state.withLock { $0.rooms.count } == second / 5 + 1)
            clock.advance(by: .seconds(1))
            if second % 5 == 4 { await clock.sleeper() }
        }
        // At the beginning, and a minute later.
        #expect(lines.count == 2)
        running.cancel()
        await running.value
    }

    @Test func `is stopped in the middle of a pause`() async {
        let pool = WorkerPool<Int>(width: 2, signal: signal, clock: clock)
        let running = Task { [bench] in
            await pool.run(
                claim: { _ in .failed(pause: .seconds(3600)) }, perform: { await bench.perform($0) })
        }
        await clock.sleeper()
        running.cancel()
        await running.value
    }

    @Test func `looks when a claim said that something is due`() async {
        let running = start(width: 2)
        await clock.sleeper()
        bench.state.withLock { $0.due = [1] }
        clock.advance(by: .seconds(59))
        #expect(bench.state.withLock { $0.rooms.count } == 1)
        clock.advance(by: .seconds(1))
        await bench.until { $0.running[1] != nil }
        bench.end(1)
        running.cancel()
        await running.value
    }

    @Test func `claims for a quarter of its width at least`() async {
        bench.state.withLock { $0.due = Array(0..<100) }
        let running = start(width: 8)
        await bench.until { $0.running.count == 8 }
        bench.end(0)
        await bench.until { $0.done.count == 1 }
        bench.end(1)
        await bench.until { $0.running.count == 8 }
        #expect(bench.state.withLock { $0.rooms } == [8, 2])
        running.cancel()
        for number in 2..<10 { bench.end(number) }
        await running.value
    }

    @Test func `claims nothing after it was stopped, and ends what it began`() async {
        bench.state.withLock { $0.due = Array(0..<3) }
        let running = start(width: 2)
        await bench.until { $0.running.count == 2 }
        running.cancel()
        bench.end(0)
        bench.end(1)
        await running.value
        #expect(bench.state.withLock { $0.done.sorted() } == [0, 1])
        #expect(bench.state.withLock { $0.due } == [2])
    }
}

@Suite(.timeLimit(.hung)) struct WakeupSignalTests {
    let signal = WakeupSignal()
    let clock = ManualClock()

    @Test func `keeps a ring for who comes later, and two are one`() async {
        signal.wake()
        signal.wake()
        await signal.wait(atMost: nil, on: clock)
        let second = Task { [signal, clock] in await signal.wait(atMost: .seconds(5), on: clock) }
        await clock.sleeper()
        clock.advance(by: .seconds(5))
        await second.value
    }

    @Test func `wakes who waits`() async {
        let waiting = Task { [signal, clock] in await signal.wait(atMost: .seconds(3600), on: clock) }
        await clock.sleeper()
        signal.wake()
        await waiting.value
    }

    @Test func `ends with the task, and leaves the ring to the next`() async {
        let cancelled = Task { [signal, clock] in await signal.wait(atMost: nil, on: clock) }
        cancelled.cancel()
        await cancelled.value
        signal.wake()
        await signal.wait(atMost: nil, on: clock)
    }
}

@Suite struct LogThrottleTests {
    @Test func `tells a cause at once and then once a minute, with the number between`() {
        var logThrottle = LogThrottle()
        #expect(logThrottle.admit("a", at: 1000) == 0)
        #expect(logThrottle.admit("a", at: 1001) == nil)
        #expect(logThrottle.admit("a", at: 60_999) == nil)
        #expect(logThrottle.admit("b", at: 60_999) == 0)
        #expect(logThrottle.admit("a", at: 61_000) == 2)
        #expect(logThrottle.admit("a", at: 61_001) == nil)
        // A clock that was set back must not silence it.
        #expect(logThrottle.admit("a", at: 0) == 1)
    }

    @Test func `remembers a bounded number of causes`() {
        var logThrottle = LogThrottle()
        for number in 0..<10_000 { #expect(logThrottle.admit("cause \(number)", at: 0) == 0) }
        #expect(logThrottle.admit("cause 9999", at: 1) == nil)
        #expect(logThrottle.admit("cause 0", at: 1) == 0)
    }
}
