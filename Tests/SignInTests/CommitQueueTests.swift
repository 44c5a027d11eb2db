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
}
