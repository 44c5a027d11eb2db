import AppleIdentity
import KeySets
import Synchronization
import TestSupport
import Testing

/// The refresh loop, on a manual clock.
@Suite(.timeLimit(.hung)) struct RemoteKeySetRunTests {
    private let clock = ManualClock(millisecondsSince1970: DrivenKeySet.start)
    private let start = DrivenKeySet.start

    @Test func `fetches at the start and again before expiration`() async throws {
        let source = StubSource { number in
            SampleKeySet.response(["A", "B\(number)"], entityTag: "\"\(number)\"")
        }
        let keys = clock.keySet(source)
        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + minute)
        #expect(keys.cachedKey(for: "B1") != nil)
        #expect(source.fetchCount == 1)

        clock.set(to: start + minute)
        try await clock.sleeper(until: start + 2 * minute)
        #expect(source.fetchCount == 1)

        clock.set(to: start + 54 * minute)
        try await clock.sleeper(until: start + 55 * minute)
        #expect(source.entityTags == [nil, #""1""#])
        #expect(keys.cachedKey(for: "B1") == nil)
        #expect(keys.cachedKey(for: "B2") != nil)

        loop.cancel()
        await loop.value
    }

    @Test func `retries during an outage and still returns keys`() async throws {
        let source = StubSource { number in
            guard number == 1 || number == 5 else {
                return KeySetResponse(status: 200, body: Array("<html>sorry".utf8))
            }
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + minute)
        var now = start + hour
        // Retries come after 30, 60 and 120 seconds; each sleep is at most a minute.
        for pause in [30, 60, 120] {
            clock.set(to: now)
            try await clock.sleeper(until: now + Int64(min(pause, 60)) * second)
            #expect(keys.cachedKey(for: "A") != nil)
            #expect(keys.health.status == .stale(.html))
            now += Int64(pause) * second
        }
        clock.set(to: now)
        try await clock.sleeper(until: now + minute)
        #expect(keys.health.status == .ready)
        #expect(source.fetchCount == 5)
        loop.cancel()
        await loop.value
    }

    @Test func `notices a clock that was set`() async throws {
        let source = StubSource(SampleKeySet.response(["A"], cacheControl: "max-age=86400"))
        let keys = clock.keySet(source)
        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + minute)
        // Ten years ahead: the set is fetched again at once.
        let future = start + 3650 * day
        clock.set(to: future)
        try await clock.sleeper(until: future + minute)
        #expect(source.fetchCount == 2)
        // And back: the loop wakes within a minute, and fetches again within 30 seconds.
        clock.set(to: start)
        #expect(keys.cachedKey(for: "A") != nil)
        #expect(await (try? keys.key(for: "A")) != nil)
        #expect(keys.health.age == 0)
        loop.cancel()
        await loop.value
    }

    @Test func `restores first, and does not fetch while what it restored is fresh`() async throws {
        let source = StubSource(SampleKeySet.response(["A"]))
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(["stored"]), entityTag: nil, fetchedAt: start, freshUntil: start + hour)
        let keys = clock.keySet(source, snapshots: MemorySnapshotStore(snapshot))
        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + minute)
        #expect(keys.cachedKey(for: "stored") != nil)
        #expect(source.fetchCount == 0)
        loop.cancel()
        await loop.value
    }

    @Test func `ends a running fetch when it is cancelled, and still returns cached keys`() async throws {
        let gate = Gate()
        let source = StubSource { number in
            if number > 1 { try await gate.pass() }
            return SampleKeySet.response(["A"])
        }
        let keys = clock.keySet(source)
        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + minute)
        let caller = Task { try await keys.key(for: "new") }
        try await eventually { gate.waiterCount == 1 }

        loop.cancel()
        await loop.value
        #expect(gate.cancelledCount == 1)
        await #expect(throws: KeySetError(.keysUnavailable)) { try await caller.value }
        #expect(keys.cachedKey(for: "A") != nil)
        #expect(keys.health.fetches.failed.isEmpty)
        // From now on nothing is fetched.
        await #expect(throws: KeySetError(.keysUnavailable)) { try await keys.key(for: "other") }
        #expect(source.fetchCount == 2)
    }

    @Test func `ends a running save before it returns`() async throws {
        let store = LingeringSnapshotStore()
        let keys = clock.keySet(StubSource(SampleKeySet.response(["A"])), snapshots: store)
        let loop = Task { await keys.run() }
        try await eventually { store.gate.waiterCount == 1 }
        loop.cancel()
        await loop.value
        #expect(store.hasEnded.withLock { $0 })
    }

    @Test func `can run again after it was stopped`() async throws {
        let source = StubSource(SampleKeySet.response(["A"]))
        let keys = clock.keySet(source)
        for count in 1...3 {
            let loop = Task { await keys.run() }
            try await clock.sleeper(until: clock.millisecondsSince1970 + minute)
            #expect(source.fetchCount == count)
            loop.cancel()
            await loop.value
            clock.set(to: clock.millisecondsSince1970 + hour)
        }
    }

    @Test func `returns when it was cancelled before it began`() async {
        let keys = clock.keySet(StubSource(SampleKeySet.response(["A"])))
        let loop = Task {
            while !Task.isCancelled { await Task.yield() }
            await keys.run()
        }
        loop.cancel()
        await loop.value
        #expect(keys.cachedKey(for: "A") == nil)
    }
}

@Suite struct SystemKeySetClockTests {
    private let clock = SystemKeySetClock()

    @Test func `returns the system time`() {
        let first = clock.millisecondsSince1970
        // 2026 to 2100 in milliseconds, not in seconds or microseconds.
        #expect((1_767_225_600_000...4_102_444_800_000).contains(first))
        #expect(clock.now >= NumericDate(clampingSecondsSince1970: first / 1000))
    }

    @Test(.timeLimit(.hung), arguments: [Int64.min, -1, 0, 1_000])
    func `does not sleep until a time that has passed`(moment: Int64) async throws {
        try await clock.sleep(untilMilliseconds: moment)
    }

    @Test(.timeLimit(.hung), arguments: [Int64.max, 4_102_444_800_000])
    func `wakes up when cancelled`(moment: Int64) async {
        let sleeper = Task { try await clock.sleep(untilMilliseconds: moment) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
