import AppleIdentity
import JOSE
import KeySets
import Synchronization
import TestSupport
import Testing
import TokenMint

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

    init(_ value: Bool) {
        flag = Mutex(value)
    }

    var value: Bool { flag.withLock { $0 } }

    func set(_ value: Bool) { flag.withLock { $0 = value } }
}
