import AppleAccounts
import StorageConformance
import Testing

@testable import Commits

@Suite struct CommitQueueTests {
    let command = AccountCommand.signIn(.sample())
    let now = ContinuousClock.now

    @Test func `makes the first caller commit and the others wait`() {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 10, largestBatch: 10)
        #expect(queue.accept(command, 1) == .startCommitting)
        #expect(queue.accept(command, 2) == .wait)
        #expect(queue.nextBatch(at: now)?.tickets == [1, 2])
        #expect(queue.accept(command, 3) == .wait)
        #expect(queue.nextBatch(at: now)?.tickets == [3])
        #expect(!queue.isIdle)
        #expect(queue.nextBatch(at: now) == nil)
        #expect(queue.isIdle)
        #expect(queue.accept(command, 4) == .startCommitting)
    }

    @Test func `cuts a long queue into batches in the order of arrival`() {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 10, largestBatch: 3)
        for ticket in 1...7 { _ = queue.accept(command, ticket) }
        #expect(queue.nextBatch(at: now)?.tickets == [1, 2, 3])
        #expect(queue.nextBatch(at: now)?.tickets == [4, 5, 6])
        #expect(queue.nextBatch(at: now)?.tickets == [7])
        #expect(queue.nextBatch(at: now) == nil)
    }

    @Test func `refuses what is past its capacity and takes more when there is room again`() {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 2, largestBatch: 2)
        #expect(queue.accept(command, 1) == .startCommitting)
        #expect(queue.accept(command, 2) == .wait)
        #expect(queue.accept(command, 3) == .refuse)
        #expect(queue.nextBatch(at: now)?.tickets == [1, 2])
        #expect(queue.accept(command, 4) == .wait)
    }

    @Test func `has room while nothing is committed, and none when it does not come back`() {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 10, largestBatch: 2)
        #expect(queue.capacity(at: now) == .available)
        _ = queue.accept(command, 1)
        _ = queue.nextBatch(at: now)
        #expect(queue.capacity(at: now + .seconds(1)) == .available)
        #expect(queue.capacity(at: now + .seconds(2)) == .stalled)
        for ticket in 2...5 { _ = queue.accept(command, ticket) }
        #expect(queue.capacity(at: now + .seconds(1)) == .exhausted)
        _ = queue.nextBatch(at: now + .seconds(3))
        _ = queue.nextBatch(at: now + .seconds(3))
        #expect(queue.nextBatch(at: now + .seconds(3)) == nil)
        #expect(queue.capacity(at: now + .seconds(60)) == .available)
    }

    @Test func `refuses everything once it is closed and still hands out what it had`() {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 2, largestBatch: 2)
        _ = queue.accept(command, 1)
        queue.close()
        #expect(queue.accept(command, 2) == .refuse)
        #expect(queue.nextBatch(at: now)?.tickets == [1])
        #expect(queue.nextBatch(at: now) == nil)
    }

    /// A queue that has just finished a batch of this many commands.
    private func queue(afterBatchOf count: Int, largestBatch: Int = 500) -> CommitQueue<AccountCommand, Int> {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 1000, largestBatch: largestBatch)
        for ticket in 0..<count { _ = queue.accept(command, ticket) }
        _ = queue.nextBatch(at: now - .seconds(1))
        _ = queue.nextBatch(at: now)
        return queue
    }

    private func accept(_ count: Int, in queue: inout CommitQueue<AccountCommand, Int>) {
        for ticket in 1...count { _ = queue.accept(command, ticket) }
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
        case .commit(let batch): .commits(batch.tickets.count)
        case .look(let turn): .looks(turn)
        case .stop: .stops
        }
    }

    fileprivate mutating func nextBatch(at now: ContinuousClock.Instant) -> Batch? {
        if case .commit(let batch) = next(gathers: false, at: now) { batch } else { nil }
    }
}
