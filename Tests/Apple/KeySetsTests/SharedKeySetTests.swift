import KeySets
import Synchronization
import TestSupport
import Testing

/// Replicas that share a store.
@Suite(.timeLimit(.hung)) struct SharedKeySetTests {
    private let clock = ManualClock(millisecondsSince1970: DrivenKeySet.start)
    private let start = DrivenKeySet.start
    private let store = MemorySnapshotStore()

    private func replica(_ source: StubSource) -> RemoteKeySet {
        RemoteKeySet(source: source, snapshots: store, clock: clock, jitter: { 0 })
    }

    @Test func `a key that one replica has fetched is used by another one during an outage`() async throws {
        let first = replica(
            StubSource { number in SampleKeySet.response(number == 1 ? ["A"] : ["A", "new"]) })
        let second = replica(StubSource { _ in throw KeySetFetchError(.unreachable) })
        _ = try await first.key(for: "A")
        try await eventually { store.snapshot != nil }
        await second.restore()
        #expect(second.cachedKey(for: "A") != nil)

        clock.set(to: start + minute)
        _ = try await first.key(for: "new")
        try await eventually { store.snapshot?.fetchedAt == start + minute }
        clock.set(to: start + 2 * minute)
        _ = try await second.key(for: "new")
        #expect(second.health.fetches.failed.isEmpty)
        #expect(second.health.status == .ready)
    }

    @Test func `ten replicas send one request to Apple`() async throws {
        let source = StubSource(SampleKeySet.response(["A"]))
        let replicas = (0..<10).map { _ in replica(source) }
        for keys in replicas {
            await keys.restore()
            _ = try await keys.key(for: "A")
            try await eventually { store.snapshot != nil }
        }
        #expect(source.fetchCount == 1)
        // An hour later each refresh loop is due.
        clock.set(to: start + hour)
        for keys in replicas {
            let loop = Task { await keys.run() }
            try await clock.sleeper(until: start + hour + minute)
            try await eventually { store.snapshot?.fetchedAt == start + hour }
            loop.cancel()
            await loop.value
        }
        #expect(source.fetchCount == 2)
        #expect(replicas.map(\.health.fetches.adopted) == [0] + Array(repeating: 1, count: 9))
    }

    @Test func `a store that hangs delays a fetch by two seconds, and is not called again meanwhile`()
        async throws
    {
        let gate = Gate()
        let keys = RemoteKeySet(
            source: StubSource(SampleKeySet.response(["A"])), snapshots: HangingSnapshotStore(gate: gate),
            clock: clock, jitter: { 0 })
        let caller = Task { try await keys.key(for: "A") }
        try await clock.sleeper(until: start + 2 * second)
        clock.set(to: start + 2 * second)
        _ = try await caller.value
        clock.set(to: start + minute)
        await #expect(throws: KeySetError(.unknownKey)) { try await keys.key(for: "x") }
        #expect(keys.health.fetches.replaced == 2)
        gate.open()
    }

    @Test func `a stored set must pass the same checks as a fetched one`() async throws {
        let stored = KeySetSnapshot(
            body: Array("<html>".utf8), entityTag: nil, fetchedAt: start, freshUntil: start + hour)
        try await store.save(stored)
        let source = StubSource(SampleKeySet.response(["A"]))
        _ = try await replica(source).key(for: "A")
        #expect(source.fetchCount == 1)
    }
}
