import AppleAccounts
import AuthorizationServer
import ServiceLifecycle
import StorageConformance
import TestSupport
import Testing

@testable import Commits

@Suite struct GroupCommitOfGrantsTests {
    let store = HeldGrantStore()
    let metrics = RecordingMetrics()

    private func commits(capacity: Int = 100, largestBatch: Int = 100) -> GroupCommit<GrantCommand> {
        GroupCommit<GrantCommand>(
            store: store, feed: EventFeed(), capacity: capacity, largestBatch: largestBatch, factory: metrics)
    }

    /// A command that changes nothing and is not refused.
    private func revocation(_ family: UInt64) -> GrantCommand {
        .revoke(.sample(SampleToken(family: family)))
    }

    private func refusedCommand() -> GrantCommand {
        .end(.sample(GrantID(.sample(1)), of: AccountID(.sample(1))))
    }

    /// Submits, and returns when the command is in the queue.
    private func submit(
        _ command: GrantCommand, to commits: GroupCommit<GrantCommand>, depth: Int
    ) async -> Task<GrantOutcome, any Error> {
        let task = Task { try await commits.submit(command) }
        while commits.depth < depth { await Task.yield() }
        return task
    }

    /// Submits the first command, and returns when the store has it.
    private func begin(_ commits: GroupCommit<GrantCommand>) async -> Task<GrantOutcome, any Error> {
        let task = Task { try await commits.submit(revocation(0)) }
        await store.arrival(of: 1)
        return task
    }

    @Test func `commits together what arrived during a commit, in its order`() async throws {
        let commits = commits()
        var tasks = [await begin(commits)]
        for line in 1...5 { tasks.append(await submit(revocation(UInt64(line)), to: commits, depth: line)) }
        store.open()
        for task in tasks { #expect(try await task.value == .revoked) }
        #expect(store.batches == [[revocation(0)], (1...5).map { revocation($0) }])
    }

    @Test func `refuses what is past 4,096 waiting commands, and commits 256 of them at once`() async throws {
        let commits = GroupCommit<GrantCommand>(store: store, feed: EventFeed())
        let first = await begin(commits)
        let waiting = (1...4096).map { line in
            Task { try await commits.submit(revocation(UInt64(line))) }
        }
        while commits.depth < 4096 { await Task.yield() }
        await #expect(throws: OverloadedError()) { try await commits.submit(revocation(5000)) }
        store.open()
        for task in [first] + waiting { _ = try await task.value }
        #expect(store.batches.map(\.count) == [1] + Array(repeating: 256, count: 16))
        #expect(try await commits.submit(revocation(5000)) == .revoked)
    }

    @Test func `gives each command its own answer`() async throws {
        let commits = commits()
        let first = await begin(commits)
        let refused = await submit(refusedCommand(), to: commits, depth: 1)
        let good = await submit(revocation(1), to: commits, depth: 2)
        store.open()
        _ = try await first.value
        await #expect(throws: GrantRefusal(.grantNotFound)) { try await refused.value }
        #expect(try await good.value == .revoked)
    }

    @Test func `fails the whole batch with the transaction and goes on with the next`() async throws {
        let commits = commits()
        store.failNext(StorageError(.unavailable, detail: ""))
        let first = await begin(commits)
        let second = await submit(revocation(1), to: commits, depth: 1)
        store.open()
        await #expect(throws: StorageError(.unavailable, detail: "")) { try await first.value }
        #expect(try await second.value == .revoked)
    }

    @Test func `carries out once what a cancelled caller had sent`() async throws {
        let commits = commits()
        let first = await begin(commits)
        let waiting = await submit(revocation(1), to: commits, depth: 1)
        first.cancel()
        waiting.cancel()
        store.open()
        _ = try await first.value
        _ = try await waiting.value
        #expect(store.batches.map(\.count) == [1, 1])
    }

    @Test func `finishes what it accepted when it drains`() async throws {
        let commits = commits()
        let first = await begin(commits)
        let second = await submit(revocation(1), to: commits, depth: 1)
        let drain = Task { await commits.drain() }
        while !commits.isClosed { await Task.yield() }
        await #expect(throws: OverloadedError()) { try await commits.submit(revocation(2)) }
        store.open()
        await drain.value
        #expect(store.batches.map(\.count) == [1, 1])
        _ = try await first.value
        _ = try await second.value
    }

    @Test func `drains at the shutdown of its service group`() async throws {
        store.open()
        let commits = commits()
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: commits)], logger: .silent))
        let running = Task { try await group.run() }
        _ = try await commits.submit(revocation(1))
        await group.triggerGracefulShutdown()
        try await running.value
        await #expect(throws: OverloadedError()) { try await commits.submit(revocation(2)) }
    }

    @Test func `counts its transactions and the commands in them, and times them`() async throws {
        let commits = commits()
        let first = await begin(commits)
        let others = [
            await submit(revocation(1), to: commits, depth: 1),
            await submit(refusedCommand(), to: commits, depth: 2),
        ]
        store.letGo()
        _ = try await first.value
        await store.arrival(of: 2)
        store.failNext(StorageError(.unavailable, detail: ""))
        store.open()
        for task in others { _ = await task.result }
        await commits.drain()
        #expect(metrics.values(of: "siwa_oauth_commits ok") == [1])
        #expect(metrics.values(of: "siwa_oauth_commands ok") == [1])
        #expect(metrics.values(of: "siwa_oauth_commits failed") == [1])
        #expect(metrics.values(of: "siwa_oauth_commands failed") == [2])
        let times = metrics.values(of: "siwa_oauth_commit_seconds")
        #expect(times.count == 1 && times.allSatisfy { $0 > 0 })
    }
}
