import AppleAccounts
import ArgumentParser
import Cryptography
import SignIn
import TestSupport
import Testing

@testable import siwa

@Suite(.timeLimit(.hung)) struct ResealingTests {
    static func ring(_ names: String...) throws -> SealingKeyRing {
        let keys = [
            "a": SealingSettingsTests.bytes(1), "b": SealingSettingsTests.bytes(2),
            "c": SealingSettingsTests.bytes(3),
        ]
        return try #require(
            SealingKeyRing(names.compactMap { SealingKey(name: $0, bytes: keys[$0] ?? []) }))
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
