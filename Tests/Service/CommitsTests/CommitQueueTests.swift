import AppleAccounts
import ServiceLifecycle
import StorageConformance
import Synchronization
import Testing
import Tracing

@testable import Commits
@testable import TraceExport

@Suite struct CommitQueueTests {
    let command = AccountCommand.signIn(.sample())
    let now = ContinuousClock.now

    @Test func `makes the first caller commit and the others wait`() {
        var queue = CommitQueue<Int>(capacity: 10, largestBatch: 10)
        #expect(queue.accept(1) == .startCommitting)
        #expect(queue.accept(2) == .wait)
        #expect(queue.nextBatch(at: now) == [1, 2])
        #expect(queue.accept(3) == .wait)
        #expect(queue.nextBatch(at: now) == [3])
        #expect(!queue.isIdle)
        #expect(queue.nextBatch(at: now) == nil)
        #expect(queue.isIdle)
        #expect(queue.accept(4) == .startCommitting)
    }

    @Test func `cuts a long queue into batches in the order of arrival`() {
        var queue = CommitQueue<Int>(capacity: 10, largestBatch: 3)
        for ticket in 1...7 { _ = queue.accept(ticket) }
        #expect(queue.nextBatch(at: now) == [1, 2, 3])
        #expect(queue.nextBatch(at: now) == [4, 5, 6])
        #expect(queue.nextBatch(at: now) == [7])
        #expect(queue.nextBatch(at: now) == nil)
    }

    @Test func `refuses what is past its capacity and takes more when there is room again`() {
        var queue = CommitQueue<Int>(capacity: 2, largestBatch: 2)
        #expect(queue.accept(1) == .startCommitting)
        #expect(queue.accept(2) == .wait)
        #expect(queue.accept(3) == .refuse)
        #expect(queue.nextBatch(at: now) == [1, 2])
        #expect(queue.accept(4) == .wait)
    }

    @Test func `has room while nothing is committed, and none when it does not come back`() {
        var queue = CommitQueue<Int>(capacity: 10, largestBatch: 2)
        #expect(queue.capacity(at: now) == .available)
        _ = queue.accept(1)
        _ = queue.nextBatch(at: now)
        #expect(queue.capacity(at: now + .seconds(1)) == .available)
        #expect(queue.capacity(at: now + .seconds(2)) == .stalled)
        for ticket in 2...5 { _ = queue.accept(ticket) }
        #expect(queue.capacity(at: now + .seconds(1)) == .exhausted)
        _ = queue.nextBatch(at: now + .seconds(3))
        _ = queue.nextBatch(at: now + .seconds(3))
        #expect(queue.nextBatch(at: now + .seconds(3)) == nil)
        #expect(queue.capacity(at: now + .seconds(60)) == .available)
    }

    @Test func `refuses everything once it is closed and still hands out what it had`() {
        var queue = CommitQueue<Int>(capacity: 2, largestBatch: 2)
        _ = queue.accept(1)
        queue.close()
        #expect(queue.accept(2) == .refuse)
        #expect(queue.nextBatch(at: now) == [1])
        #expect(queue.nextBatch(at: now) == nil)
    }

    /// A queue that has just finished a batch of this many commands.
    private func queue(afterBatchOf count: Int, largestBatch: Int = 500) -> CommitQueue<Int> {
        var queue = CommitQueue<Int>(capacity: 1000, largestBatch: largestBatch)
        for ticket in 0..<count { _ = queue.accept(ticket) }
        _ = queue.nextBatch(at: now - .seconds(1))
        _ = queue.nextBatch(at: now)
        return queue
    }

    private func accept(_ count: Int, in queue: inout CommitQueue<Int>) {
        for ticket in 1...count { _ = queue.accept(ticket) }
    }

    @Test(arguments: [0, 1]) func `commands that come alone wait for no others`(before: Int) {
        var queue = queue(afterBatchOf: before)
        accept(1, in: &queue)
        #expect(queue.step(at: now) == .commits(1))
    }

    @Test func `after several, it gathers as long as each look finds more`() {
        var queue = queue(afterBatchOf: 2)
        for _ in 1...2 {
            accept(2, in: &queue)
            guard case .looks(let turn) = queue.step(at: now) else {
                Issue.record("it did not gather")
                return
            }
            accept(1, in: &queue)
            #expect(queue.step(look: turn, at: now) == .looks(turn))
            #expect(queue.step(look: turn, at: now) == .commits(3))
            #expect(queue.step(look: turn, at: now) == .stops, "a look of an earlier turn")
            #expect(queue.step(at: now) == .stops)
            #expect(queue.isIdle)
        }
    }

    @Test func `callers who do not come back soon are not waited for`() {
        var queue = queue(afterBatchOf: 2)
        accept(1, in: &queue)
        #expect(queue.step(at: now + .milliseconds(10)) == .commits(1))
    }

    @Test(arguments: [(500, 64), (7, 7)]) func `a full transaction waits for no others`(
        largestBatch: Int, count: Int
    ) {
        var queue = queue(afterBatchOf: 2, largestBatch: largestBatch)
        accept(count - 1, in: &queue)
        var full = queue
        #expect(queue.step(at: now) != .commits(count - 1))
        accept(1, in: &full)
        #expect(full.step(at: now) == .commits(count))
        #expect(queue.endsGathering(at: now) == false)
        accept(1, in: &queue)
        // Before its next look, which may come late.
        #expect(queue.endsGathering(at: now) == true)
        #expect(queue.endsGathering(at: now) == false, "one goes on")
        #expect(queue.step(look: 0, at: now) == .stops)
        #expect(queue.step(gathers: false, at: now) == .commits(count))
    }

    @Test func `it gathers for a bounded time, and not once it is closed`() {
        var looking = queue(afterBatchOf: 2)
        accept(1, in: &looking)
        guard case .looks(let turn) = looking.step(at: now) else {
            Issue.record("it did not gather")
            return
        }
        accept(1, in: &looking)
        var (arriving, closed) = (looking, looking)
        let end = now + .milliseconds(5)
        #expect(looking.step(look: turn, at: end) == .commits(2))
        #expect(arriving.endsGathering(at: end) == true)
        #expect(arriving.step(gathers: false, at: end) == .commits(2))
        closed.close()
        #expect(closed.step(look: turn, at: now) == .commits(2))
    }

    @Test func `gathering does not count into how long transactions take`() {
        var queue = queue(afterBatchOf: 2)
        accept(1, in: &queue)
        _ = queue.step(at: now)
        #expect(queue.capacity(at: now + .seconds(60)) == .available)
        #expect(queue.step(gathers: false, at: now + .seconds(60)) == .commits(1))
        #expect(queue.capacity(at: now + .seconds(61)) == .available)
    }
}

/// Step of a queue, in a form that can be compared.
private enum QueueStep: Equatable {
    case commits(Int)
    case looks(Int)
    case stops
}

extension CommitQueue {
    fileprivate mutating func step(
        look: Int? = nil, gathers: Bool = true, at now: ContinuousClock.Instant
    ) -> QueueStep {
        switch next(look: look, gathers: gathers, at: now) {
        case .commit(let batch): .commits(batch.count)
        case .look(let turn): .looks(turn)
        case .stop: .stops
        }
    }

    fileprivate mutating func nextBatch(at now: ContinuousClock.Instant) -> [Entry]? {
        if case .commit(let batch) = next(gathers: false, at: now) { batch } else { nil }
    }
}

@Suite struct CommitPaceTests {
    static let start = ContinuousClock.now

    static func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// The pace after transactions of this many milliseconds, with a running transaction.
    static func pace(of milliseconds: Int) -> CommitPace {
        var pace = CommitPace()
        for _ in 0..<10 {
            pace.batchBegan(at: at(-milliseconds))
            pace.batchEnded(at: at(0))
        }
        pace.batchBegan(at: at(0))
        return pace
    }

    @Test(arguments: [
        (10, 7, CommitCapacity.available), (300, 5, .available), (300, 7, .exhausted), (1900, 0, .available),
        (1900, 1, .exhausted),
    ])
    func `goes by what waits and by what a transaction takes`(
        milliseconds: Int, batches: Int, expected: CommitCapacity
    ) { #expect(Self.pace(of: milliseconds).capacity(behind: batches, at: Self.at(1)) == expected) }

    @Test func `a transaction that takes longer than a caller should wait is no load`() {
        let pace = Self.pace(of: 10)
        #expect(pace.capacity(behind: 0, at: Self.at(1999)) == .available)
        #expect(pace.capacity(behind: 0, at: Self.at(2000)) == .stalled)
        #expect(pace.capacity(behind: 7, at: Self.at(2000)) == .stalled)
    }

    @Test func `is fast again as soon as transactions are`() {
        var pace = Self.pace(of: 1900)
        for round in 0..<6 {
            pace.batchEnded(at: Self.at(10 * round))
            pace.batchBegan(at: Self.at(10 * round))
        }
        #expect(pace.capacity(behind: 7, at: Self.at(61)) == .available)
    }

    @Test func `has nothing to say before the first transaction`() {
        #expect(CommitPace().capacity(behind: 0, at: Self.at(0)) == .available)
    }
}

@Suite struct CommitSpansTests {
    let recorder = SpanRecorder(sampler: TraceSampler(ratio: 1))

    private func finished() throws -> FinishedSpan {
        try #require(recorder.queue.take(atMost: 1).spans.first)
    }

    @Test func `a transaction belongs to its first recorded request, and links to the others`() throws {
        let requests = (0..<3).map {
            recorder.startSpan("request \($0)", context: .topLevel, ofKind: .server)
        }
        let spans = CommitSpans(.commitGrants, recorder)
        let span = try #require(spans.begin([nil] + requests.map { Optional($0.context) } + [nil]))
        CommitSpans.end(span, Result<Int, any Error>.success(1))
        let ended = try finished()
        #expect(ended.name == "commit grants" && ended.kind == .client && !ended.isFailed)
        #expect(ended.parent == requests[0].trace.spanID && ended.trace.traceID == requests[0].trace.traceID)
        #expect(ended.links.map(\.spanID) == requests.dropFirst().map(\.trace.spanID))
        #expect(ended.attributes.map(\.name) == ["siwa.commands"])
        #expect(ended.attributes.first?.value == .number(5))
    }

    @Test func `a transaction that fails has the code of the error`() throws {
        let request = recorder.startSpan("request", context: .topLevel)
        let span = try #require(CommitSpans(.commitAccounts, recorder).begin([request.context]))
        CommitSpans.end(span, Result<Int, any Error>.failure(StorageError(.full, detail: "disk")))
        let ended = try finished()
        #expect(ended.isFailed)
        #expect(
            ended.attributes.contains {
                $0.name == "error.type" && $0.value == .text(StorageError.Code.full.rawValue)
            })
    }

    @Test func `a transaction without a recorded request has no span`() {
        #expect(CommitSpans(.commitAccounts, recorder).begin([nil, nil]) == nil)
    }
}

@Suite struct EventFeedTests {
    let feed = EventFeed(mostWaiters: 3)

    /// Starts a wait, and returns when it has begun.
    private func wait(after sequence: Int64, waiters: Int) async -> Task<Bool, Never> {
        let task = Task { (try? await feed.waitForMore(after: sequence)) != nil }
        while feed.waiterCount < waiters { await Task.yield() }
        return task
    }

    @Test func `lets no reader wait for what is there already`() async throws {
        feed.advance(to: 5)
        #expect(try await feed.waitForMore(after: 4) == 5)
    }

    @Test func `wakes those who have not seen the new number`() async throws {
        let behind = await wait(after: 4, waiters: 1)
        let ahead = await wait(after: 9, waiters: 2)
        feed.advance(to: 5)
        #expect(await behind.value)
        #expect(feed.waiterCount == 1)
        feed.advance(to: 10)
        #expect(await ahead.value)
        #expect(feed.waiterCount == 0)
    }

    @Test func `calls listeners at each newer number, also when all readers wait`() async throws {
        let calls = Mutex(0)
        feed.whenAdvanced { calls.withLock { $0 += 1 } }
        for number in 1...3 { _ = await wait(after: 9, waiters: number) }
        feed.advance(to: 5)
        feed.advance(to: 5)
        feed.advance(to: 4)
        #expect(calls.withLock { $0 } == 1)
        feed.advance(to: 6)
        #expect(calls.withLock { $0 } == 2)
        feed.close()
    }

    @Test func `never goes back`() async throws {
        feed.advance(to: 5)
        feed.advance(to: 3)
        #expect(try await feed.waitForMore(after: 4) == 5)
    }

    @Test func `ends a wait with its task`() async throws {
        let waiting = await wait(after: 1, waiters: 1)
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(feed.waiterCount == 0)
    }

    @Test func `does not begin a wait in a cancelled task`() async throws {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return (try? await feed.waitForMore(after: 1)) != nil
        }
        task.cancel()
        #expect(await !task.value)
    }

    @Test func `sends everybody away when it closes`() async throws {
        let waiting = await wait(after: 1, waiters: 1)
        feed.close()
        #expect(await !waiting.value)
        #expect(try await feed.waitForMore(after: 1) == nil)
    }

    @Test func `takes a bounded number of waiters`() async throws {
        var tasks: [Task<Bool, Never>] = []
        for number in 1...3 { tasks.append(await wait(after: 1, waiters: number)) }
        await #expect(throws: OverloadedError()) { try await feed.waitForMore(after: 1) }
        feed.advance(to: 2)
        for task in tasks { #expect(await task.value) }
        feed.advance(to: 3)
        #expect(try await feed.waitForMore(after: 2) == 3)
    }
}
