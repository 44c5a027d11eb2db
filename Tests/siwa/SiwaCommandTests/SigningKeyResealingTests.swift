import AppleAccounts
import AuthorizationServer
import Cryptography
import JOSE
import StrictJSON
import TestSupport
import Testing

@testable import OAuth
@testable import siwa

/// The service's own signing keys under a new sealing key.
@Suite(.timeLimit(.hung)) struct SigningKeyResealingTests {
    /// The published keys and the signing keys of a service that was started with these sealing keys.
    private struct Started: Equatable {
        let keySet: [JSONObject]
        let signing: [String]
    }

    private static func keys(_ store: any ServiceStore, _ ring: SealingKeyRing) -> SigningKeys {
        SigningKeys(
            store: store, sealingKeys: ring, algorithms: [.ES256, .RS256],
            schedule: SigningKeySchedule(longestToken: 3_600_000), now: { StoredAccounts.now },
            logger: .silent)
    }

    private static func start(_ store: any ServiceStore, _ ring: SealingKeyRing) async throws -> Started {
        let keys = keys(store, ring)
        let signing = [
            try await keys.signingKey(.ES256).keyID, try await keys.signingKey(.RS256).keyID,
        ]
        return Started(keySet: try await keys.published(), signing: signing)
    }

    private static func with(_ body: (any ServiceStore) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory, body)
        }
    }

    @Test func `after reseal a service with the new key alone signs and publishes the same`() async throws {
        try await Self.with { store in
            let (old, new) = (try ResealingTests.ring("a"), try ResealingTests.ring("b"))
            let before = try await Self.start(store, old)
            let outcome = try await ResealingTests.reseal(store, ResealingTests.ring("b", "a"))
            #expect(outcome == Resealing.Outcome(resealed: 2))
            #expect(try await Self.start(store, new) == before)
            #expect(try await ResealingTests.reseal(store, new) == Resealing.Outcome(current: 2))
        }
    }

    @Test func `tokens from before it verify with the key set after it`() async throws {
        try await Self.with { store in
            let key = try await Self.keys(store, ResealingTests.ring("a")).signingKey(.ES256)
            let message = Array("header.payload".utf8)
            let signature = try key.signature(for: message)
            _ = try await ResealingTests.reseal(store, ResealingTests.ring("b", "a"))
            let after = Self.keys(store, try ResealingTests.ring("b"))
            let published = try #require(try await after.verificationKey(key.keyID))
            #expect(try await after.signingKey(.ES256).keyID == key.keyID)
            #expect(published.isValidSignature(signature, for: message[...]))
        }
    }

    @Test
    func `without reseal a service with the new key alone signs nothing, until the old keys are retired`()
        async throws
    {
        try await Self.with { store in
            let before = try await Self.start(store, ResealingTests.ring("a"))
            let new = try ResealingTests.ring("b")
            await #expect(throws: SigningKeysShut()) { _ = try await Self.start(store, new) }
            #expect(try await store.signingKeys().count == 2)
            var resealing = Resealing(store: store, keys: new, progress: { _ in })
            resealing.retiresSigningKeysAt = StoredAccounts.now
            #expect(try await resealing.run() == Resealing.Outcome(retired: 2))
            let after = try await Self.start(store, new)
            #expect(Set(before.signing).isDisjoint(with: after.signing))
            // Keys that open stay.
            #expect(try await resealing.run() == Resealing.Outcome(current: 2))
        }
    }

    @Test func `an operator can retire the keys that do not open, and no others`() async throws {
        try await Self.with { store in
            _ = try await Self.start(store, ResealingTests.ring("a"))
            let key = try #require(try await store.signingKeys().first)
            func retire(_ keyID: String, _ ring: String?) async throws -> Bool {
                try await ComposedOverview.retire(
                    keyID, by: .service, at: StoredAccounts.now, ring.map { try ResealingTests.ring($0) },
                    in: store)
            }
            #expect(try await !retire(key.keyID, "a"))
            #expect(try await !retire(key.keyID, nil))
            #expect(try await !retire("another", "b"))
            #expect(try await retire(key.keyID, "b"))
            #expect(try await store.signingKeys().count == 1)
        }
    }

    @Test func `a dry run changes no signing key`() async throws {
        try await Self.with { store in
            _ = try await Self.start(store, ResealingTests.ring("a"))
            let before = try await store.signingKeys()
            let outcome = try await ResealingTests.reseal(
                store, ResealingTests.ring("b", "a"), isDryRun: true)
            #expect(outcome == Resealing.Outcome(resealed: 2))
            #expect(try await store.signingKeys() == before)
        }
    }

    @Test func `signing keys that do not open stay unchanged and are reported`() async throws {
        try await Self.with { store in
            _ = try await Self.start(store, ResealingTests.ring("a"))
            let unknown = try await ResealingTests.reseal(store, ResealingTests.ring("b"))
            #expect(unknown == Resealing.Outcome(unknownKeys: ["a": 2]))
            let keys = try await store.signingKeys()
            #expect(try await store.replaceSealed(keys[0], with: keys[1].sealed))
            let swapped = try await store.signingKeys()
            let outcome = try await ResealingTests.reseal(store, ResealingTests.ring("a"))
            #expect(outcome == Resealing.Outcome(current: 1, damagedSigningKeys: 1))
            #expect(!outcome.isComplete)
            #expect(try await store.signingKeys() == swapped)
            let words = Reseal.words(for: outcome, keys: ["a"], isDryRun: false)
            #expect(words.contains("1 of the keys that sign tokens cannot be opened"))
        }
    }
}
