import Foundation
import TestSupport
import Testing

@testable import siwa

/// Parts of the configuration that a start compares with the last start, for the audit log.
@Suite struct ConfigurationFingerprintsTests {
    private static let file = """
        api_keys:
          - {name: ops, hash: \(String(repeating: "a", count: 64)), roles: [operator]}
          - {name: backend, hash: \(String(repeating: "b", count: 64))}
        """

    /// Returns the names of the parts that differ between two configurations.
    private static func changed(
        _ first: [String: String], _ second: [String: String], file secondFile: String = file
    ) async throws -> [String] {
        let before = try await fingerprints(first, file)
        let after = try await fingerprints(second, secondFile)
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    private static func fingerprints(
        _ changes: [String: String], _ file: String
    ) async throws -> [String: String] {
        try await TemporaryDirectory.with { directory in
            var environment = SettingsReaderTests.minimal
            environment["SIWA_API_KEY_HASHES"] = nil
            environment["SIWA_CONFIG"] = try directory.write(file, to: "siwa.yaml")
            let settings = try await SettingsReader.read(environment: environment.merging(changes) { $1 })
            // The file has another name in each run.
            return settings.fingerprints.filter { $0.key != "setting SIWA_CONFIG" }
        }
    }

    @Test func `the same configuration has the same fingerprints, in any order of its members`() async throws
    {
        let other = """
            api_keys:
              - {name: backend, hash: \(String(repeating: "b", count: 64))}
              - {roles: [operator], hash: \(String(repeating: "a", count: 64)), name: ops}
            """
        #expect(try await Self.changed([:], [:]) == [])
        #expect(try await Self.changed([:], [:], file: other) == [])
    }

    @Test func `replicas that listen at different places have the same fingerprints`() async throws {
        #expect(
            try await Self.changed(
                ["SIWA_PORT": "8080", "SIWA_HOST": "127.0.0.1"],
                ["SIWA_PORT": "8081", "SIWA_HOST": "0.0.0.0"])
                == [])
    }

    @Test func `names the parts that differ, and no others`() async throws {
        let hash = Self.file.replacing(
            String(repeating: "b", count: 64), with: String(repeating: "c", count: 64))
        #expect(try await Self.changed([:], [:], file: hash) == ["api_key backend"])
        let role = Self.file.replacing("[operator]", with: "[operator, backend]")
        #expect(try await Self.changed([:], [:], file: role) == ["api_key ops"])
        #expect(try await Self.changed([:], ["SIWA_LOG_LEVEL": "error"]) == ["setting SIWA_LOG_LEVEL"])
        let (one, two) = ("a=\(SealingSettingsTests.first)", "b=\(SealingSettingsTests.second)")
        #expect(
            try await Self.changed(["SIWA_SEALING_KEYS": one], ["SIWA_SEALING_KEYS": "\(two),\(one)"])
                == ["first sealing key", "sealing_key b"])
        let same = "a=\(SealingSettingsTests.second)"
        #expect(
            try await Self.changed(["SIWA_SEALING_KEYS": one], ["SIWA_SEALING_KEYS": same]) == [
                "sealing_key a"
            ])
    }

    @Test func `no fingerprint shows a key, and a secret that a person may have chosen has none`()
        async throws
    {
        let key = "a=\(SealingSettingsTests.first)"
        let fingerprints = try await Self.fingerprints(
            [
                "SIWA_SEALING_KEYS": key, "DATABASE_URL": "sqlite://other.sqlite",
                "SIWA_TRACES_URL": "http://127.0.0.1:4318", "SIWA_TRACES_HEADERS": "authorization=Basic aTpi",
            ], Self.file)
        #expect(fingerprints["setting SIWA_TRACES_URL"] != nil)
        for setting in Setting.all where setting.isSecret {
            #expect(fingerprints["setting \(setting.name)"] == nil, "\(setting.name)")
        }
        // A key that is first is named, because a second fingerprint would look like that of another key.
        #expect(fingerprints["first sealing key"] == "a")
        for (name, value) in fingerprints where name != "first sealing key" {
            #expect([8, 16].contains(value.count) && value.allSatisfy(\.isHexDigit))
            #expect(!String(repeating: "a", count: 64).hasPrefix(value))
        }
    }
}
