import AppleAccounts
import Console
import Logging
import TestSupport
import Testing

@testable import siwa

/// The ages of keys on the overview: from the starts that this database has seen.
@Suite struct OverviewKeysTests {
    private static let start = StoredAccounts.now

    private static func settings(_ sealingKeys: String, _ directory: String) async throws -> ServiceSettings {
        try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging([
                "SIWA_SEALING_KEYS": sealingKeys,
                "APPLE_PRIVATE_KEY_FILE": "\(directory)/AuthKey_K1L2M3N4O5.p8",
            ]) { $1 })
    }

    private static func ages(
        _ settings: ServiceSettings, in store: any ServiceStore
    ) async -> [String: KeyCondition.Age] {
        let keys = await ComposedOverview.keys(settings, in: store)
        return Dictionary(keys.map { ($0.name, $0.age) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `a key has the moment of the first start that had it, as long as it is the same key`()
        async throws
    {
        let files = ["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            let (one, two) = (SealingSettingsTests.first, SealingSettingsTests.second)
            let first = try await Self.settings("a=\(one)", directory)
            let second = try await Self.settings("b=\(two),a=\(one)", directory)
            // The name of an older key for another key.
            let third = try await Self.settings("a=\(two)", directory)
            try await StoredAccounts.with(directory) { store in
                #expect(await Self.ages(first, in: store) == ["a": .notSeen, "team A1B2C3D4E5": .notSeen])
                let later = Self.start.advanced(byMilliseconds: 86_400_000)
                _ = try await store.noteConfiguration(first.fingerprints, at: Self.start)
                _ = try await store.noteConfiguration(second.fingerprints, at: later)
                #expect(
                    await Self.ages(second, in: store) == [
                        "a": .firstSeen(Self.start), "b": .firstSeen(later),
                        "team A1B2C3D4E5": .firstSeen(Self.start),
                    ])
                #expect(await Self.ages(third, in: store)["a"] == .notSeen)
            }
        }
    }

    @Test func `a database that does not answer leaves the ages unknown`() async throws {
        let files = ["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            let settings = try await Self.settings("a=\(SealingSettingsTests.first)", directory)
            let database = try await settings.database(in: directory)
            await database.close()
            #expect(
                await Self.ages(settings, in: database.accounts) == [
                    "a": .unknown, "team A1B2C3D4E5": .unknown,
                ])
        }
    }
}

extension ServiceSettings {
    fileprivate func database(in directory: String) async throws -> any ServiceDatabase {
        var settings = self
        settings.database = .sqlite(path: "\(directory)/siwa.sqlite")
        return try await settings.openDatabase(logger: .silent)
    }
}
