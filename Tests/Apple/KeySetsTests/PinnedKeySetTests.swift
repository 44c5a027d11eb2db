import AppleIdentity
import Encodings
import Foundation
import KeySets
import TestSupport
import Testing
import TokenMint

@Suite struct PinnedKeySetTests {
    @Test func `has the keys of its file`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(SampleKeySet.body(["A", "B"])).write(to: file)
        let keys = try PinnedKeySet(file: file.path)
        #expect(keys.cachedKey(for: "A") != nil)
        #expect(try await keys.key(for: "B") === keys.cachedKey(for: "B"))
        #expect(keys.health.status == .ready)
        #expect(keys.health.keyCount == 2)
        #expect(keys.cachedKey(for: "C") == nil)
        await #expect(throws: KeySetError(.unknownKey)) { try await keys.key(for: "C") }
    }

    @Test(arguments: [
        ([], PinnedKeySetError.Code.empty), (Array("<html>".utf8), .malformed),
        (Array(#"{"keys":[]}"#.utf8), .noUsableKey), (SampleKeySet.withoutUsableKey, .noUsableKey),
        ([UInt8](repeating: 0x20, count: 65_537), .tooLarge),
    ])
    func `refuses content without a usable key`(content: [UInt8], code: PinnedKeySetError.Code) throws {
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(parsing: content) }
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(content).write(to: file)
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(file: file.path) }
    }

    @Test(arguments: [
        ("/nowhere/keys.json", PinnedKeySetError.Code.unreadable), ("", .unreadable), ("/", .unreadable),
        ("/dev/null", .empty), ("/dev/zero", .tooLarge),
    ])
    func `refuses a path that is not a key set file`(path: String, code: PinnedKeySetError.Code) {
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(file: path) }
    }
}

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

    @Test func `a store that hangs delays a fetch by two seconds, and is called once`() async throws {
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

@Suite struct VerifyingWithKeysTests {
    private let policy = VerificationPolicy(clientIDs: [TokenMint.clientID])
    private let now = NumericDate(clampingSecondsSince1970: TokenMint.sampleTime)

    @Test func `verifies an identity token`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        let identity = try await IdentityTokenVerifier(policy: policy).verify(
            token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        #expect(identity.subject == TokenMint.subject)
    }

    @Test func `verifies a notification`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let payload = try TokenMint.shared.sign(TokenMint.notificationClaims())
        let notification = try await NotificationVerifier(policy: policy).verify(payload, keys: keys, at: now)
        #expect(notification.events.count == 1)
    }

    @Test func `passes the expectations to the verifier`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: AppleTokenError(.nonceMissing)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(nonce: "n"), at: now)
        }
    }

    @Test func `refuses a token whose key Apple does not have`() async throws {
        let keys = try PinnedKeySet(parsing: SampleKeySet.body(["OTHER"]))
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: AppleTokenError(.unknownKey)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
        await #expect(throws: AppleTokenError(.unknownKey)) {
            try await NotificationVerifier(policy: policy).verify(token, keys: keys, at: now)
        }
    }

    @Test func `throws keysUnavailable when the keys cannot be fetched`() async throws {
        let keys = RemoteKeySet(source: StubSource { _ in throw KeySetFetchError(.unreachable) })
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: KeySetError(.keysUnavailable)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
    }

    @Test(arguments: [
        "", "x", "..", "a.b.c", "e30.e30.e30", String(repeating: "a", count: 20_000),
        // {"alg":"none","kid":"K"}, {"alg":"HS256","kid":"K"}, {"alg":"RS256"}, a kid of 65 characters
        "eyJhbGciOiJub25lIiwia2lkIjoiSyJ9.e30.AA", "eyJhbGciOiJIUzI1NiIsImtpZCI6IksifQ.e30.AA",
        "eyJhbGciOiJSUzI1NiJ9.e30.AA",
        Base64URL.encode(
            Array(#"{"alg":"RS256","kid":"\#(String(repeating: "k", count: 65))"}"#.utf8)) + ".e30.AA",
    ])
    func `garbage never causes a fetch`(token: String) async {
        let source = StubSource(SampleKeySet.response(["A"]))
        let keys = RemoteKeySet(source: source)
        await #expect(throws: AppleTokenError.self) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
        await #expect(throws: AppleTokenError.self) {
            try await NotificationVerifier(policy: policy).verify(token, keys: keys, at: now)
        }
        #expect(source.fetchCount == 0)
    }
}
