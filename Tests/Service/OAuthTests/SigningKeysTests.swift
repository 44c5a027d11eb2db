import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import KeySets
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

@Suite struct SigningKeysTests {
    private static let day = Duration.seconds(86_400)

    private let store = ReferenceStore()
    private let clock = ManualClock()

    private func keys(
        _ ring: String = "test", on store: (any AuthorizationStore)? = nil,
        algorithms: Set<SignatureAlgorithm> = [.ES256]
    ) throws -> SigningKeys {
        SigningKeys(
            store: store ?? self.store, sealingKeys: try OAuthWorld.ring(ring), algorithms: algorithms,
            schedule: SigningKeySchedule(longestToken: 3_600_000),
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
    }

    private func keyIDs(_ keys: SigningKeys) async throws -> [String] {
        try await keys.published().compactMap { $0["kid"]?.string }
    }

    @Test func `no key is made before one is needed, and only for configured algorithms`() async throws {
        let keys = try keys()
        #expect(try await store.signingKeys().isEmpty)
        _ = try await keys.signingKey(.ES256)
        #expect(try await store.signingKeys().map(\.algorithm) == ["ES256"])
        await #expect(throws: JOSEError(.keyUnusable)) { _ = try await keys.signingKey(.RS256) }
    }

    @Test func `two replicas share the key that one of them made`() async throws {
        let (first, second) = (try keys(), try keys())
        async let one = first.signingKey(.ES256).keyID
        async let two = second.signingKey(.ES256).keyID
        _ = try await (one, two)
        try await first.refresh()
        try await second.refresh()
        #expect(try await first.signingKey(.ES256).keyID == second.signingKey(.ES256).keyID)
        #expect(try await store.signingKeys().count == 1)
    }

    @Test func `the key set is never without a key that is being made`() async throws {
        let (begun, goesOn) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let store = CountingAuthorizationStore {
            begun.continuation.yield()
            for await _ in goesOn.stream { break }
        }
        let keys = try keys(on: store)
        async let made: Void = keys.refresh()
        for await _ in begun.stream { break }
        // Caches keep what they get for an hour.
        async let published = keys.published()
        for _ in 0..<100 { await Task.yield() }
        goesOn.continuation.yield()
        #expect(try await published.count == 1)
        try await made
    }

    @Test func `the private key is sealed at rest`() async throws {
        let key = try await keys().signingKey(.ES256)
        let record = try #require(try await store.signingKeys().first)
        #expect(record.keyID == key.keyID)
        #expect(throws: (any Error).self) {
            try SigningKeySealer(keys: try OAuthWorld.ring("other")).open(record)
        }
        let text = String(decoding: record.sealed.bytes + record.publicKey, as: UTF8.self)
        #expect(!text.contains("PRIVATE"))
    }

    @Test func `a key is published a day before it signs, and until the last token has expired`() async throws
    {
        let keys = try keys()
        let first = try await keys.signingKey(.ES256).keyID
        clock.advance(by: Self.day * 88)
        try await keys.refresh()
        #expect(try await keyIDs(keys) == [first])
        clock.advance(by: Self.day)
        try await keys.refresh()
        let both = try await keyIDs(keys)
        #expect(both.count == 2)
        #expect(try await keys.signingKey(.ES256).keyID == first)
        clock.advance(by: Self.day)
        let second = try await keys.signingKey(.ES256).keyID
        #expect(second != first && both.contains(second))
        // A token of the last moment still verifies.
        clock.advance(by: .seconds(3600))
        #expect(try await keys.verificationKey(first) != nil)
        clock.advance(by: .seconds(3600))
        #expect(try await keys.verificationKey(first) == nil)
        // A hint may be older than every token.
        #expect(try await keys.verificationKey(ofHint: first)?.keyID == first)
        #expect(try await keys.verificationKey(ofHint: "unknown") == nil)
        #expect(try await keyIDs(keys) == [second])
        clock.advance(by: Self.day * 40)
        try await keys.refresh()
        #expect(try await store.signingKeys().map(\.keyID).contains(first) == false)
    }

    @Test func `after a long stop a new key signs at once`() async throws {
        let first = try await keys().signingKey(.ES256).keyID
        clock.advance(by: Self.day * 200)
        let second = try await keys().signingKey(.ES256).keyID
        #expect(first != second)
    }

    @Test
    func `a replica with a wrong sealing key makes no keys, publishes the right ones, and signs nothing`()
        async throws
    {
        let first = try await keys().signingKey(.ES256).keyID
        let wrong = try keys("wrong", algorithms: [.ES256, .RS256])
        for algorithm in [SignatureAlgorithm.ES256, .RS256] {
            await #expect(throws: SigningKeysShut()) { _ = try await wrong.signingKey(algorithm) }
        }
        #expect(try await store.signingKeys().map(\.keyID) == [first])
        #expect(try await keyIDs(wrong) == [first])
        // An operator who has lost the sealing key retires the key, and the service goes on with a new one.
        let record = try #require(try await store.signingKeys().first)
        #expect(try await store.removeSigningKey(record, by: .service, at: record.createdAt))
        #expect(try await wrong.signingKey(.ES256).keyID != first)
    }

    @Test func `a key that does not open replaces none of the keys that sign`() async throws {
        let right = try keys()
        let first = try await right.signingKey(.ES256).keyID
        // As an older version has left it.
        let moment = Moment(milliseconds: clock.millisecondsSince1970 + 1000)
        let records = try await store.signingKeys()
        let dates = try #require(
            SigningKeySchedule(longestToken: 3_600_000).newKey(
                after: records, signing: nil, at: moment))
        let shut = try SigningKeySealer(keys: OAuthWorld.ring("wrong")).seal(
            TokenSigningKey.makePEM(for: .ES256), for: .ES256, dates, at: moment)
        _ = try await store.offerSigningKey(shut, unlessMadeAfter: moment)
        clock.advance(by: .seconds(3 * 3600))
        try await right.refresh()
        #expect(try await right.signingKey(.ES256).keyID == first)
        #expect(try await keyIDs(right).contains(first))
    }

    @Test func `invented key IDs cost one read a second`() async throws {
        let store = CountingAuthorizationStore()
        let keys = try keys(on: store)
        _ = try await keys.signingKey(.ES256)
        let before = store.reads
        for number in 0..<100 { #expect(try await keys.verificationKey("k\(number)") == nil) }
        #expect(store.reads == before + 1)
        clock.advance(by: .seconds(1))
        for number in 0..<100 { #expect(try await keys.verificationKey("k\(number)") == nil) }
        #expect(store.reads == before + 2)
    }

    @Test
    func
        `a request that may be refused makes no key, and requests while keys are shut cost one read a second`()
        async throws
    {
        let store = CountingAuthorizationStore()
        try await keys(on: store).requireKey(.ES256)
        #expect(try await store.signingKeys().isEmpty)
        _ = try await keys(on: store).signingKey(.ES256)
        try await keys(on: store).requireKey(.ES256)
        let wrong = try keys("wrong", on: store)
        await #expect(throws: SigningKeysShut()) { try await wrong.requireKey(.ES256) }
        let before = store.reads
        for _ in 0..<100 { await #expect(throws: SigningKeysShut()) { try await wrong.requireKey(.ES256) } }
        #expect(store.reads == before)
        clock.advance(by: .seconds(1))
        for _ in 0..<100 { await #expect(throws: SigningKeysShut()) { try await wrong.requireKey(.ES256) } }
        #expect(store.reads == before + 1)
    }

    @Test func `a key that another replica has just made is found at once`() async throws {
        let (first, second) = (try keys(), try keys(algorithms: []))
        try await second.refresh()
        let made = try await first.signingKey(.ES256).keyID
        #expect(try await second.verificationKey(made)?.keyID == made)
    }

    @Test func `a key is sealed again with the first key of the ring`() async throws {
        _ = try await keys().signingKey(.ES256)
        let record = try #require(try await store.signingKeys().first)
        let sealer = SigningKeySealer(keys: try OAuthWorld.ring())
        #expect(try sealer.resealed(record) == nil)
    }
}

@Suite struct SecretGuessingTests {
    private let address = RequesterAddress(network: 1, isVersion4: true)

    private let parameters = ["grant_type": "refresh_token", "refresh_token": "x"]

    /// The response to a token request with a wrong secret.
    private func guess(
        _ world: OAuthWorld, as client: String = "google", from address: RequesterAddress?
    ) async -> (any Error)? {
        await #expect(throws: (any Error).self) {
            let wrong = parameters.merging(["client_secret": "wrong"]) { $1 }
            _ = try await world.ask(wrong, as: client, from: address)
        }
    }

    @Test(arguments: [RequesterAddress(network: 1, isVersion4: true), nil])
    func `wrong secrets from one address are slowed down, and the right one is never refused`(
        address: RequesterAddress?
    ) async throws {
        let world = try OAuthWorld()
        for _ in 0..<SecretGuessing.freeAttempts {
            #expect(await guess(world, from: address) is TokenEndpointError)
        }
        let elsewhere = RequesterAddress(network: 2, isVersion4: true)
        for _ in 0..<40 {
            #expect(await guess(world, from: address) is GuessingPaused)
            // The honest client at the same address, as behind one proxy, and elsewhere.
            for client in [address, elsewhere] {
                await #expect(throws: OAuthError(.invalidGrant, "")) {
                    _ = try await world.ask(parameters, as: "google", from: client)
                }
            }
        }
        // Another client at the same address, and the same client elsewhere, are not concerned.
        #expect(await guess(world, as: "shop", from: address) is TokenEndpointError)
        #expect(await guess(world, from: elsewhere) is TokenEndpointError)
    }

    @Test func `a right secret does not help the one who guesses at the same address`() async throws {
        let world = try OAuthWorld()
        var pauses: [Int64] = []
        for _ in 0..<30 {
            if let paused = await guess(world, from: address) as? GuessingPaused {
                pauses.append(paused.seconds)
                world.clock.advance(by: .seconds(paused.seconds))
            }
            await #expect(throws: OAuthError(.invalidGrant, "")) {
                _ = try await world.ask(parameters, as: "google", from: address)
            }
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    }

    @Test func `pauses double up to a minute and are forgotten after a quarter of an hour`() throws {
        let client: OAuthClientID = "google"
        var guessing = SecretGuessing()
        var pauses: [Int64] = []
        let now = Moment(seconds: 1_000_000)
        for _ in 0..<18 {
            guessing.failed(for: client, at: address, now: now)
            pauses.append(guessing.pause(for: client, at: address, now: now) ?? 0)
        }
        #expect(pauses == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
        let later = now.advanced(byMilliseconds: SecretGuessing.memory)
        guessing.failed(for: client, at: address, now: later)
        #expect(guessing.pause(for: client, at: address, now: later) == nil)
    }

    @Test func `the table is bounded, and forgets the oldest`() throws {
        let client: OAuthClientID = "google"
        var guessing = SecretGuessing()
        let last = SecretGuessing.mostKeys * 2
        for number in 0...last {
            let moment = Moment(seconds: 1_000_000 + Int64(number / 100))
            let address = RequesterAddress(network: UInt64(number), isVersion4: true)
            for _ in 0..<(number == last ? 12 : 1) { guessing.failed(for: client, at: address, now: moment) }
        }
        #expect(guessing.count <= SecretGuessing.mostKeys)
        let moment = Moment(seconds: 1_000_000 + Int64(last / 100))
        let newest = RequesterAddress(network: UInt64(last), isVersion4: true)
        #expect(guessing.pause(for: client, at: newest, now: moment) != nil)
    }
}
