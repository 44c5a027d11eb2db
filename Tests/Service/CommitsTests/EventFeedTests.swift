import AppleAccounts
import ServiceLifecycle
import Synchronization
import Testing

@testable import Commits

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
