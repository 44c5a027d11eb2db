import AppleAccounts
import ArgumentParser
import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import SignIn
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import OAuth
@testable import siwa

@Suite(.timeLimit(.hung)) struct ResealingTests {
    static func ring(_ names: String...) throws -> SealingKeyRing {
        let numbers = ["a": 1, "2026-01": 1, "b": 2, "c": 3]
        return try #require(
            SealingKeyRing(
                names.compactMap { SealingKey(name: $0, bytes: SealingSettingsTests.bytes(numbers[$0] ?? 0)) }
            ))
    }

    static func reseal(_ store: any ServiceStore, _ keys: SealingKeyRing, isDryRun: Bool = false)
        async throws -> Resealing.Outcome
    {
        try await Resealing(store: store, keys: keys, progress: { _ in }).run(isDryRun: isDryRun)
    }

    static func names(_ store: any ServiceStore) async throws -> [String] {
        try await store.sealedSecrets(after: nil, limit: 10_000)
            .map { SealingKeyRing.keyName(of: $0.sealed.bytes) ?? "?" }
    }

    /// A database with this many values under key a.
    static func with(_ count: Int, _ body: (any ServiceStore) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await StoredAccounts.with(directory, keys: ring("a")) { store in
                try await StoredAccounts.signIn((0..<count).map { "0.\($0).1" }, code: "code", in: store)
                try await body(store)
            }
        }
    }

    @Test func `seals everything with the first key, over more than a page`() async throws {
        try await Self.with(1100) { store in
            let outcome = try await Self.reseal(store, Self.ring("b", "a"))
            #expect(outcome == Resealing.Outcome(resealed: 1100))
            #expect(Set(try await Self.names(store)) == ["b"])
            // Without the old key everything still opens.
            #expect(try await Self.reseal(store, Self.ring("b")) == Resealing.Outcome(current: 1100))
        }
    }

    @Test func `can be stopped and run again`() async throws {
        try await Self.with(3) { store in
            let rows = try await store.sealedSecrets(after: nil, limit: 1)
            let row = try #require(rows.first)
            let data = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
            let sealed = try #require(
                SealedSecret(Self.ring("b").seal([1], for: row.purpose.sealingPurpose, associatedData: data)))
            #expect(try await store.replaceSealed(row, with: sealed))
            let outcome = try await Self.reseal(store, Self.ring("b", "a"))
            #expect(outcome == Resealing.Outcome(resealed: 2, current: 1))
        }
    }

    @Test func `a dry run changes nothing`() async throws {
        try await Self.with(3) { store in
            let outcome = try await Self.reseal(store, Self.ring("b", "a"), isDryRun: true)
            #expect(outcome.resealed == 3)
            #expect(try await Self.names(store) == ["a", "a", "a"])
        }
    }

    @Test func `values sealed by an unknown key stay unchanged and are reported`() async throws {
        try await Self.with(2) { store in
            let outcome = try await Self.reseal(store, Self.ring("b", "c"))
            #expect(outcome == Resealing.Outcome(unknownKeys: ["a": 2]))
            #expect(!outcome.isComplete)
            #expect(try await Self.names(store) == ["a", "a"])
            let words = Reseal.words(for: outcome, keys: ["b", "c"], isDryRun: false)
            #expect(words.contains("2 sealed by key a"))
            #expect(!words.contains("No longer needed"))
        }
    }

    @Test func `swapped rows are found, and stay unchanged`() async throws {
        try await Self.with(2) { store in
            let rows = try await store.sealedSecrets(after: nil, limit: 2)
            #expect(try await store.replaceSealed(rows[0], with: rows[1].sealed))
            let outcome = try await Self.reseal(store, Self.ring("b", "a"))
            #expect(outcome == Resealing.Outcome(resealed: 1, damaged: 1))
            #expect(!outcome.isComplete)
        }
    }

    /// A script that removes the old key after status 0 must not do so while the key is needed.
    @Test func `the status says whether values are to be resealed`() {
        let (none, some) = (Resealing.Outcome(current: 2), Resealing.Outcome(resealed: 1, current: 1))
        let damaged = Resealing.Outcome(resealed: 1, damaged: 1)
        #expect(Reseal.status(for: none, isDryRun: true).rawValue == 0)
        #expect(Reseal.status(for: none, isDryRun: false).rawValue == 0)
        #expect(Reseal.status(for: some, isDryRun: true).rawValue == 2)
        #expect(Reseal.status(for: some, isDryRun: false).rawValue == 0)
        for isDryRun in [true, false] {
            #expect(Reseal.status(for: damaged, isDryRun: isDryRun).rawValue == 1)
        }
    }
}

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
        let signing = [try await keys.signingKey(.ES256).keyID, try await keys.signingKey(.RS256).keyID]
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

@Suite struct SealingSettingsTests {
    static let first = Base64.encode(bytes(1))
    static let second = Base64.encode(bytes(2))

    /// Returns bytes that look random and are the same in every run.
    static func bytes(_ number: Int) -> [UInt8] {
        SHA256Digest.hash("sealing key \(number) of the tests").bytes
    }

    @Test func `no key is needed`() async throws {
        #expect(try await SettingsReaderTests.read().sealingKeys == nil)
    }

    @Test(arguments: ["new=\(second), old=\(first)", "new=\(second),old=\(first)"])
    func `several keys stand in the order in which they are written`(value: String) async throws {
        let ring = try #require(
            try await SettingsReaderTests.read(with: ["SIWA_SEALING_KEYS": value]).sealingKeys)
        #expect(ring.keys.map(\.name) == ["new", "old"])
        #expect(
            SealingKeyRing.keyName(of: ring.seal([1], for: SealingPurpose("test"), associatedData: []))
                == "new")
    }

    @Test func `the file has them as a list`() async throws {
        let settings = try await SettingsReaderTests.read(
            file: "siwa_sealing_keys:\n  - new=\(Self.second)\n  - old=\(Self.first)\n")
        #expect(settings.sealingKeys?.keys.map(\.name) == ["new", "old"])
    }

    @Test(arguments: [
        first, "=\(first)", "a b=\(first)", "a=", "a=AAAA", "a=\(first.dropLast())", "a=\(first),",
        ",a=\(first)",
        "a=\(first),a=\(second)", "a=\(first),b=\(first)",
        "a=\(Base64.encode(Array(repeating: 0, count: 32)))",
        "a=\(Base64.encode(0..<33))", "a=\(Base64.encode(0..<31))", "a=\(first) b=\(second)",
    ])
    func `any other value is a mistake, and the message does not repeat it`(value: String) async throws {
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReaderTests.read(with: ["SIWA_SEALING_KEYS": value])
        }
        let text = try #require(error?.description)
        #expect(text.contains("SIWA_SEALING_KEYS"))
        #expect(!text.contains(Self.first.prefix(8)))
        #expect(!text.contains(Self.second.prefix(8)))
    }
}
