import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct CommitQueueTests {
    let command = AccountCommand.signIn(.sample())

    @Test func `makes the first caller commit and the others wait`() {
        var queue = CommitQueue<Int>(capacity: 10, largestBatch: 10)
        #expect(queue.accept(command, 1) == .startCommitting)
        #expect(queue.accept(command, 2) == .wait)
        #expect(queue.nextBatch()?.tickets == [1, 2])
        #expect(queue.accept(command, 3) == .wait)
        #expect(queue.nextBatch()?.tickets == [3])
        #expect(!queue.isIdle)
        #expect(queue.nextBatch() == nil)
        #expect(queue.isIdle)
        #expect(queue.accept(command, 4) == .startCommitting)
    }

    @Test func `cuts a long queue into batches in the order of arrival`() {
        var queue = CommitQueue<Int>(capacity: 10, largestBatch: 3)
        for ticket in 1...7 { _ = queue.accept(command, ticket) }
        #expect(queue.nextBatch()?.tickets == [1, 2, 3])
        #expect(queue.nextBatch()?.tickets == [4, 5, 6])
        #expect(queue.nextBatch()?.tickets == [7])
        #expect(queue.nextBatch() == nil)
    }

    @Test func `refuses what is past its capacity and takes more when there is room again`() {
        var queue = CommitQueue<Int>(capacity: 2, largestBatch: 2)
        #expect(queue.accept(command, 1) == .startCommitting)
        #expect(queue.accept(command, 2) == .wait)
        #expect(queue.accept(command, 3) == .refuse)
        #expect(queue.nextBatch()?.tickets == [1, 2])
        #expect(queue.accept(command, 4) == .wait)
    }

    @Test func `refuses everything once it is closed and still hands out what it had`() {
        var queue = CommitQueue<Int>(capacity: 2, largestBatch: 2)
        _ = queue.accept(command, 1)
        queue.close()
        #expect(queue.accept(command, 2) == .refuse)
        #expect(queue.nextBatch()?.tickets == [1])
        #expect(queue.nextBatch() == nil)
    }
}
