import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

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

    /// A queue that has committed so many together.
    private func queue(afterBatchOf count: Int) -> CommitQueue<AccountCommand, Int> {
        var queue = CommitQueue<AccountCommand, Int>(capacity: 1000, largestBatch: 500)
        for ticket in 0..<count { _ = queue.accept(command, ticket) }
        _ = queue.nextBatch(at: now)
        _ = queue.nextBatch(at: now)
        return queue
    }

    @Test(arguments: [0, 1]) func `a command waits for no others while they come alone`(before: Int) {
        var queue = queue(afterBatchOf: before)
        _ = queue.accept(command, 1)
        #expect(queue.shouldGather(at: now) == false)
    }

    @Test func `after several, it gathers as long as each look finds more`() {
        var queue = queue(afterBatchOf: 2)
        #expect(queue.shouldGather(at: now) == false, "nothing waits")
        _ = queue.accept(command, 1)
        #expect(queue.shouldGather(at: now) == true)
        for ticket in 2...3 { _ = queue.accept(command, ticket) }
        #expect(queue.shouldGather(at: now) == true)
        #expect(queue.shouldGather(at: now) == false)
        #expect(queue.nextBatch(at: now)?.tickets == [1, 2, 3])
        #expect(queue.shouldGather(at: now) == false)
        #expect(queue.nextBatch(at: now) == nil)
        #expect(queue.isIdle)
    }

    @Test func `gathers a bounded number for a bounded time, and nothing once it is closed`() {
        var queue = queue(afterBatchOf: 2)
        for ticket in 1..<64 { _ = queue.accept(command, ticket) }
        var late = queue
        var closed = queue
        #expect(queue.shouldGather(at: now) == true)
        _ = queue.accept(command, 64)
        #expect(queue.shouldGather(at: now) == false)
        #expect(late.shouldGather(at: now) == true)
        _ = late.accept(command, 64)
        #expect(late.shouldGather(at: now + .milliseconds(3)) == false)
        closed.close()
        #expect(closed.shouldGather(at: now) == false)
    }
}
