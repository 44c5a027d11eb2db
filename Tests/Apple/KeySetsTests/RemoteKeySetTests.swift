import AppleIdentity
import JOSE
import KeySets
import Synchronization
import TestSupport
import Testing
import TokenMint

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

/// A process fetches and stores the key set, and the next process starts during an outage of Apple. Tokens
/// must still be verified.
@Suite(.timeLimit(.hung)) struct RestartDuringOutageTests {
    private let store = MemorySnapshotStore()
    private let clock = ManualClock(millisecondsSince1970: TokenMint.sampleTime * 1000)
    private let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: [TokenMint.clientID]))
    private let start = TokenMint.sampleTime * 1000

    private func keySet(_ isAppleThere: @escaping @Sendable () -> Bool) -> RemoteKeySet {
        let source = StubSource { _ in
            guard isAppleThere() else { throw KeySetFetchError(.unreachable) }
            return KeySetResponse(status: 200, body: TokenMint.shared.keySet)
        }
        return RemoteKeySet(source: source, snapshots: store, clock: clock, jitter: { 0 })
    }

    private func verify(_ token: String, _ keys: RemoteKeySet) async throws -> String {
        try await verifier.verify(
            token, keys: keys, expecting: IdentityTokenExpectations(), at: clock.now
        ).subject
    }

    /// Runs a process that fetches and stores the key set.
    private func firstProcess() async throws {
        let keys = keySet { true }
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        #expect(try await verify(token, keys) == TokenMint.subject)
        try await eventually { store.snapshot != nil }
    }

    @Test func `tokens verify after a restart during an outage, until Apple is back`() async throws {
        try await firstProcess()
        clock.set(to: start + 3 * hour)

        let isAppleThere = Flag(false)
        let keys = keySet { isAppleThere.value }
        #expect(keys.health.status == .unavailable(nil))
        #expect(await keys.restore() == .restored)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        #expect(try await verify(token, keys) == TokenMint.subject)

        let loop = Task { await keys.run() }
        try await clock.sleeper(until: start + 3 * hour + 30 * second)
        #expect(keys.health.status == .stale(.unreachable))
        #expect(keys.health.age == 3 * hour)
        #expect(try await verify(token, keys) == TokenMint.subject)

        // It is not known whether an unknown key is Apple's.
        let stranger = try JWTSigner.sign(
            claims: TokenMint.identityClaims(), keyID: "NEWKEY", algorithm: .RS256,
            key: TokenMint.shared.privateKey.pem)
        await #expect(throws: KeySetError(.keysUnavailable)) { try await verify(stranger, keys) }

        isAppleThere.set(true)
        clock.set(to: start + 3 * hour + 30 * second)
        // The look-up above failed too, so the delay has doubled, and it ends here at the latest.
        try await clock.sleeper(until: start + 3 * hour + 60 * second)
        clock.set(to: start + 3 * hour + 90 * second)
        try await eventually { keys.health.status == .ready }
        await #expect(throws: AppleTokenError(.unknownKey)) { try await verify(stranger, keys) }
        loop.cancel()
        await loop.value
    }

    @Test func `a snapshot with another key verifies no token`() async throws {
        try await firstProcess()
        let other = KeySetSnapshot(
            body: SampleKeySet.body([TokenMint.shared.keyID]), entityTag: nil, fetchedAt: start,
            freshUntil: start + hour)
        try await store.save(other)
        let keys = keySet { false }
        #expect(await keys.restore() == .restored)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: AppleTokenError(.signatureInvalid)) { try await verify(token, keys) }
    }

    @Test(
        arguments: [
            [], Array("<html>".utf8), Array(#"{"keys":[]}"#.utf8), SampleKeySet.withoutUsableKey,
            [0xFF, 0xFE, 0x00],
            Array(SampleKeySet.body(["A"]).dropLast()), [UInt8](repeating: 0x20, count: 65_537),
            SampleKeySet.body(["A"]) + [UInt8](repeating: 0x20, count: 65_536),
        ] as [[UInt8]])
    func `a corrupt snapshot is ignored and the set is fetched`(body: [UInt8]) async throws {
        try await store.save(
            KeySetSnapshot(body: body, entityTag: #""1""#, fetchedAt: start, freshUntil: start + hour))
        let keys = keySet { true }
        #expect(await keys.restore() == .ignored)
        #expect(keys.health.status == .unavailable(nil))
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        #expect(try await verify(token, keys) == TokenMint.subject)
        try await eventually { store.snapshot?.body == TokenMint.shared.keySet }
    }

    @Test func `starts without anything stored`() async throws {
        let keys = keySet { false }
        #expect(await keys.restore() == .nothingStored)
        #expect(
            await RemoteKeySet(source: StubSource(SampleKeySet.response(["A"]))).restore() == .nothingStored)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: KeySetError(.keysUnavailable)) { try await verify(token, keys) }
    }
}

private final class Flag: Sendable {
    private let flag: Mutex<Bool>

    init(_ value: Bool) { flag = Mutex(value) }

    var value: Bool { flag.withLock { $0 } }

    func set(_ value: Bool) { flag.withLock { $0 = value } }
}
