import JOSE
import KeySets
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct RemoteKeySetTests {
    private let clock = ManualClock(millisecondsSince1970: DrivenKeySet.start)
    private let start = DrivenKeySet.start

    private func code(_ keys: RemoteKeySet, _ keyID: String) async -> KeySetError.Code? {
        do throws(KeySetError) {
            _ = try await keys.key(for: keyID)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `fetches a key on demand and caches it`() async throws {
        let source = StubSource(SampleKeySet.response(["A", "B"]))
        let keys = clock.keySet(source)
        #expect(keys.cachedKey(for: "A") == nil)
        #expect(source.fetchCount == 0)
        let key = try await keys.key(for: "A")
        #expect(keys.cachedKey(for: "A") === key)
        #expect(try await keys.key(for: "A") === key)
        #expect(keys.cachedKey(for: "B") != nil)
        #expect(source.fetchCount == 1)
    }

    @Test func `a hundred callers share one fetch`() async throws {
        let gate = Gate()
        let source = StubSource { _ in
            try await gate.pass()
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        try await withThrowingTaskGroup(of: RSAPublicKey.self) { group in
            for _ in 0..<100 { group.addTask { try await keys.key(for: "A") } }
            try await eventually { keys.health.waiterCount == 100 }
            gate.open()
            var count = 0
            for try await key in group {
                #expect(key === keys.cachedKey(for: "A"))
                count += 1
            }
            #expect(count == 100)
        }
        #expect(source.fetchCount == 1)
        #expect(keys.health.waiterCount == 0)
    }

    @Test func `a cancelled caller returns at once and does not cancel the fetch`() async throws {
        let gate = Gate()
        let source = StubSource { _ in
            try await gate.pass()
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        let first = Task { await code(keys, "A") }
        try await eventually { keys.health.waiterCount == 1 }
        let second = Task { await code(keys, "A") }
        try await eventually { keys.health.waiterCount == 2 }

        first.cancel()
        #expect(await first.value == .keysUnavailable)
        #expect(keys.health.waiterCount == 1)

        gate.open()
        #expect(await second.value == nil)
        #expect(source.fetchCount == 1)
        #expect(gate.cancelledCount == 0)
    }

    @Test func `a caller that was cancelled before the call does not hang`() async {
        let gate = Gate()
        let source = StubSource { _ in
            try await gate.pass()
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        let caller = Task {
            while !Task.isCancelled { await Task.yield() }
            return await code(keys, "A")
        }
        caller.cancel()
        #expect(await caller.value == .keysUnavailable)
        gate.open()
        #expect(await code(keys, "A") == nil)
        #expect(source.fetchCount == 1)
    }

    @Test func `all waiting callers get the failure of the fetch`() async throws {
        let gate = Gate()
        let source = StubSource { _ in
            try await gate.pass()
            throw KeySetFetchError(.timedOut)
        }
        let keys = clock.keySet(source)
        try await withThrowingTaskGroup(of: KeySetError.Code?.self) { group in
            for _ in 0..<10 { group.addTask { await code(keys, "A") } }
            try await eventually { keys.health.waiterCount == 10 }
            gate.open()
            for try await code in group { #expect(code == .keysUnavailable) }
        }
        #expect(keys.health.status == .unavailable(.timedOut))
    }

    @Test(
        arguments: [
            (KeySetFetchError(.tooLarge), KeySetFetchError.Code.tooLarge), (TestFailure("x"), .unreachable),
            // A client that was shut down throws a cancellation, although this fetch was not cancelled.
            (CancellationError(), .unreachable),
        ] as [(any Error, KeySetFetchError.Code)])
    func `names the failure of its source`(error: any Error, code: KeySetFetchError.Code) async {
        let keys = clock.keySet(StubSource { _ in throw error })
        #expect(await self.code(keys, "A") == .keysUnavailable)
        #expect(keys.health.lastFailure == code)
    }

    @Test func `stops waiting for a source that hangs, and fetches again later`() async throws {
        let gate = Gate()
        let source = StubSource { number in
            if number == 1 { try await gate.pass() }
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        let caller = Task { await code(keys, "A") }
        try await clock.sleeper(until: start + 20 * second)
        clock.set(to: start + 20 * second)
        #expect(await caller.value == .keysUnavailable)
        #expect(keys.health.lastFailure == .timedOut)
        #expect(gate.cancelledCount == 1)

        clock.set(to: start + 30 * second)
        #expect(await code(keys, "A") == nil)
    }

    @Test func `a flood of invented keys causes one fetch while known keys are returned`() async {
        let source = StubSource(SampleKeySet.response(["A"]))
        let keys = clock.keySet(source)
        #expect(await code(keys, "A") == nil)
        clock.set(to: start + hour / 2)
        await withTaskGroup(of: Bool.self) { group in
            for attacker in 0..<100 {
                group.addTask {
                    for number in 0..<100 {
                        // Whichever comes first or joins is looked for; the others come back after the cooldown.
                        guard await code(keys, "invented-\(attacker)-\(number)") != nil,
                            keys.cachedKey(for: "A") != nil
                        else { return false }
                    }
                    return true
                }
            }
            for await isRight in group where !isRight { Issue.record("wrong answer") }
        }
        #expect(source.fetchCount == 2)
    }

    @Test func `callers refresh a set without a refresh loop`() async throws {
        let source = StubSource { number in SampleKeySet.response(number == 1 ? ["A"] : ["A", "B"]) }
        let keys = clock.keySet(source)
        #expect(await code(keys, "A") == nil)
        clock.set(to: start + hour)
        #expect(await code(keys, "A") == nil)
        try await eventually { keys.cachedKey(for: "B") != nil }
        #expect(source.fetchCount == 2)
    }

    @Test func `stores what it fetched`() async throws {
        let store = MemorySnapshotStore()
        let keys = clock.keySet(
            StubSource(SampleKeySet.response(["A"], entityTag: #""1""#)), snapshots: store)
        #expect(await code(keys, "A") == nil)
        try await eventually { store.snapshot != nil }
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(["A"]), entityTag: #""1""#, fetchedAt: start, freshUntil: start + hour)
        #expect(store.snapshot == snapshot)
    }

    @Test func `callers do not wait for the store`() async throws {
        let gate = Gate()
        let keys = clock.keySet(
            StubSource(SampleKeySet.response(["A"])), snapshots: GatedSnapshotStore(gate: gate))
        #expect(await code(keys, "A") == nil)
        try await eventually { gate.waiterCount == 1 }
        #expect(keys.cachedKey(for: "A") != nil)
        gate.open()
    }

    @Test func `a store that fails does no harm and is counted`() async throws {
        let keys = clock.keySet(StubSource(SampleKeySet.response(["A"])), snapshots: BrokenSnapshotStore())
        #expect(await keys.restore() == .storeFailed)
        #expect(keys.health.snapshotFailures == 1)
        #expect(await code(keys, "A") == nil)
        // The load before the fetch, and the save after it.
        try await eventually { keys.health.snapshotFailures == 3 }
        #expect(keys.health.status == .ready)
        #expect(keys.health.fetches.failed.isEmpty)
    }
}
