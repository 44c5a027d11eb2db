import AppleAccounts
import AuthorizationServer
import SQLiteStorage
import ServiceLifecycle
import StorageConformance
import TestSupport
import Testing

@testable import Commits

@Suite struct GroupCommitTests {
    let store = HeldStore()
    let feed = EventFeed()

    private func commits(capacity: Int = 100, largestBatch: Int = 100) -> GroupCommit<AccountCommand> {
        GroupCommit<AccountCommand>(store: store, feed: feed, capacity: capacity, largestBatch: largestBatch)
    }

    private func signIn(_ name: AppleSubject, createsAccount: Bool = true) -> SignInCommand {
        .sample(key: .sample(name), createsAccount: createsAccount)
    }

    /// Submits, and returns when the command is in the queue or in a batch.
    private func submit<Typed: TypedCommand>(
        _ command: Typed, to commits: GroupCommit<AccountCommand>, depth: Int
    ) async -> Task<Typed.Output, any Error> where Typed.Command == AccountCommand {
        let task = Task { try await commits.submit(command) }
        while commits.depth < depth { await Task.yield() }
        return task
    }

    @Test func `commits together what arrived during a commit`() async throws {
        let commits = commits()
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        var others: [Task<SignInOutcome, any Error>] = []
        for number in 1...5 {
            others.append(await submit(signIn("other-\(number)"), to: commits, depth: number))
        }
        store.letGo()
        _ = try await first.value
        await store.arrival(of: 2)
        #expect(store.batches.map(\.count) == [1, 5])
        store.letGo()
        for task in others { _ = try await task.value }
        #expect(store.batches[1] == (1...5).map { .signIn(signIn("other-\($0)")) })
    }

    @Test func `commits together what is submitted together, also the first of it`() async throws {
        let commits = commits(capacity: 3)
        store.open()
        let (stream, response) = AsyncStream<String>.makeStream()
        commits.submit(
            (1...4).map { number in
                GroupCommit<AccountCommand>.Entry(.signIn(signIn("user-\(number)"))) { result in
                    response.yield((try? result.get()) == nil ? "refused \(number)" : "done \(number)")
                }
            })
        var responses = Set<String>()
        for await text in stream.prefix(4) { responses.insert(text) }
        #expect(responses == ["done 1", "done 2", "done 3", "refused 4"])
        #expect(store.batches.map(\.count) == [3])
        commits.submit([])
        #expect(commits.depth == 0)
    }

    @Test(.timeLimit(.hung))
    func `waits for what arrives at once when several were committed together before`() async throws {
        let callers = GatheringCallers(store: store, feed: feed)
        let (commits, delays) = (callers.commits, callers.delays)
        store.open()
        callers.submit("alone", 1)
        await callers.responses(1)
        callers.submit("together", 2)
        await callers.responses(2)
        #expect(delays.count == 0)

        callers.submit("first", 1)
        await delays.arrival(of: 1)
        callers.submit("second", 1)
        delays.letGo()
        await delays.arrival(of: 2)
        #expect(store.batches.map(\.count) == [1, 2])
        delays.letGo()
        await callers.responses(2)
        #expect(store.batches.map(\.count) == [1, 2, 2])

        callers.submit("last", 1)
        await delays.arrival(of: 3)
        let drain = Task { await commits.drain() }
        while !commits.isClosed { await Task.yield() }
        delays.letGo()
        await callers.responses(1)
        await drain.value
        #expect(store.batches.map(\.count) == [1, 2, 2, 1])
    }

    @Test(.timeLimit(.hung))
    func `what arrives when enough have gathered does not wait for a delay that takes long`() async throws {
        let callers = GatheringCallers(store: store, feed: feed)
        store.open()
        callers.submit("before", 2)
        await callers.responses(2)
        callers.submit("first", 10)
        await callers.delays.arrival(of: 1)
        callers.submit("second", 60)
        await callers.responses(70)
        #expect(store.batches.map(\.count) == [2, 70])
        callers.delays.letGo()
        #expect(store.batches.map(\.count) == [2, 70])
    }

    @Test func `answers only when the commit is done`() async throws {
        let commits = commits()
        let task = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        #expect(try await store.account(.sample("first")) == nil)
        store.letGo()
        let outcome = try await task.value
        #expect(try await store.account(.sample("first")) == outcome.account)
    }

    @Test func `gives each command its own answer`() async throws {
        let commits = commits()
        let blocker = Task { try await commits.submit(signIn("blocker")) }
        await store.arrival(of: 1)
        let good = await submit(signIn("good"), to: commits, depth: 1)
        let refused = await submit(signIn("refused", createsAccount: false), to: commits, depth: 2)
        let notification = await submit(NotificationCommand.sample(), to: commits, depth: 3)
        store.open()
        _ = try await blocker.value
        _ = try await good.value
        await #expect(throws: AccountRefusal(.accountNotFound)) { try await refused.value }
        #expect(try await notification.value == .applied)
    }

    @Test(arguments: [.full, .busy, .unavailable] as [StorageError.Code])
    func `fails the whole batch with the transaction and goes on with the next`(
        code: StorageError.Code
    ) async throws {
        let commits = commits()
        store.failNext(StorageError(code, detail: ""))
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        let second = await submit(signIn("second"), to: commits, depth: 1)
        store.open()
        await #expect(throws: StorageError(code, detail: "")) { try await first.value }
        _ = try await second.value
        #expect(try await store.account(.sample("first")) == nil)
        #expect(try await store.account(.sample("second")) != nil)
    }

    @Test func `refuses what is past its capacity at once`() async throws {
        let commits = commits(capacity: 2)
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        let second = await submit(signIn("second"), to: commits, depth: 1)
        let third = await submit(signIn("third"), to: commits, depth: 2)
        await #expect(throws: OverloadedError()) { try await commits.submit(signIn("fourth")) }
        store.open()
        for task in [first, second, third] { _ = try await task.value }
        _ = try await commits.submit(signIn("fourth"))
        #expect(try await store.reference.allEvents().count == 8)
    }

    @Test func `carries out once what a cancelled caller had sent`() async throws {
        let commits = commits()
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        let waiting = await submit(signIn("waiting"), to: commits, depth: 1)
        first.cancel()
        waiting.cancel()
        store.open()
        _ = try await first.value
        _ = try await waiting.value
        #expect(try await store.reference.allEvents().count == 4)
        #expect(store.batches.map(\.count) == [1, 1])
    }

    @Test func `finishes what it accepted when it drains`() async throws {
        let commits = commits()
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        let second = await submit(signIn("second"), to: commits, depth: 1)
        let drain = Task { await commits.drain() }
        while !commits.isClosed { await Task.yield() }
        await #expect(throws: OverloadedError()) { try await commits.submit(signIn("late")) }
        store.open()
        await drain.value
        #expect(try await store.account(.sample("second")) != nil)
        _ = try await first.value
        _ = try await second.value
        await commits.drain()
    }

    @Test func `drains at the shutdown of its service group`() async throws {
        store.open()
        let commits = commits()
        let group = ServiceGroup(configuration: .init(services: [.init(service: commits)], logger: .silent))
        let running = Task { try await group.run() }
        _ = try await commits.submit(signIn("first"))
        await group.triggerGracefulShutdown()
        try await running.value
        await #expect(throws: OverloadedError()) { try await commits.submit(signIn("late")) }
    }

    @Test func `loses nothing and repeats nothing under load`() async throws {
        store.open()
        let commits = commits(capacity: 4096, largestBatch: 7)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 { group.addTask { _ = try await commits.submit(signIn("user-\(number)")) } }
            try await group.waitForAll()
        }
        #expect(try await store.reference.allEvents().count == 1000)
        #expect(store.batches.allSatisfy { $0.count <= 7 })
        #expect(store.batches.map(\.count).reduce(0, +) == 500)
    }

    @Test func `counts its transactions and the commands in them, and times them`() async throws {
        let metrics = RecordingMetrics()
        let commits = GroupCommit<AccountCommand>(
            store: store, feed: feed, capacity: 100, largestBatch: 100, factory: metrics)
        let first = Task { try await commits.submit(signIn("first")) }
        await store.arrival(of: 1)
        let second = await submit(signIn("second"), to: commits, depth: 1)
        let third = await submit(signIn("third"), to: commits, depth: 2)
        store.letGo()
        _ = try await first.value
        await store.arrival(of: 2)
        store.failNext(StorageError(.unavailable, detail: ""))
        store.open()
        for task in [second, third] { _ = await task.result }
        await commits.drain()
        #expect(metrics.values(of: "siwa_storage_commits ok") == [1])
        #expect(metrics.values(of: "siwa_storage_commands ok") == [1])
        #expect(metrics.values(of: "siwa_storage_commits failed") == [1])
        #expect(metrics.values(of: "siwa_storage_commands failed") == [2])
        #expect(metrics.values(of: "siwa_storage_commit_seconds").count == 1)
    }
}

/// The group commit over the real store: commits with a response are present when the file is opened again.
@Suite struct GroupCommitOnSQLiteTests {
    @Test func `keeps what it answered, once`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "siwa.sqlite")
        let database = try await SQLiteDatabase.open(path: path, logger: .silent)
        let commits = GroupCommit<AccountCommand>(store: database.accounts, feed: EventFeed())
        let answered = try await withThrowingTaskGroup(of: AccountID.self) { group in
            for number in 0..<300 {
                group.addTask {
                    // Every third user signs in twice.
                    let key = SubjectKey.sample("user-\(number % 200)")
                    return try await commits.submit(SignInCommand.sample(key: key)).account.id
                }
            }
            return try await group.reduce(into: Set<AccountID>()) { $0.insert($1) }
        }
        #expect(answered.count == 200)
        await commits.drain()
        await database.close()

        let reopened = try await SQLiteDatabase.open(path: path, logger: .silent)
        for id in answered { #expect(try await reopened.accounts.account(id) != nil) }
        #expect(try await reopened.accounts.allEvents().count == 400)
        await reopened.close()
    }
}

/// A step from a use case to its caller.
@Suite struct StepTests {
    private struct Refused: Error {}
    private struct Cause: Error {}

    /// Steps that lead to 1.
    private static func steps() -> [Step<Int>] {
        let commits = GroupCommit<AccountCommand>(store: ReferenceStore(), feed: EventFeed())
        let commit = commits.step(NotificationCommand.sample()) { _ in 1 }
        let twice = commit.then { _ in commit }
        return [
            .now(1), .later { 1 }, commit, .work { commit }, .work { .work { .now(1) } }, twice,
            twice.then { value in .later { value } }, .work { twice },
        ]
    }

    @Test(arguments: steps().indices)
    func `a value, commands and work for a task lead to the value`(index: Int) async throws {
        let step = Self.steps()[index]
        #expect(try await step.value == 1)
        #expect(try await step.map { $0 + 1 }.value == 2)
        #expect(try await step.then { .now($0 + 2) }.value == 3)
        #expect(try await step.then { value in .later { value + 3 } }.value == 4)
    }

    @Test(arguments: steps().indices) func `an error is mapped whenever it comes`(index: Int) async throws {
        await #expect(throws: Refused.self) {
            _ = try await Step.mappingErrors({ $0 is Cause ? Refused() : $0 }) {
                try Self.steps()[index].then { _ -> Step<Int> in throw Cause() }
            }.value
        }
    }

    @Test func `the error of a command comes to its next step`() async throws {
        let commits = GroupCommit<AccountCommand>(store: ReferenceStore(), feed: EventFeed())
        await commits.drain()
        let step: Step<OverloadedError> = commits.step(
            NotificationCommand.sample(),
            then: { result in
                guard case .failure(let error as OverloadedError) = result else { throw Cause() }
                return .now(error)
            })
        #expect(try await step.value == OverloadedError())
    }
}

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
        let waiting = (1...4096).map { line in Task { try await commits.submit(revocation(UInt64(line))) } }
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
        let group = ServiceGroup(configuration: .init(services: [.init(service: commits)], logger: .silent))
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
