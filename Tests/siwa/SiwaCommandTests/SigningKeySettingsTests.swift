import AppleIDClient
import Foundation
import TestSupport
import Testing

@testable import siwa

@Suite struct SigningKeySettingsTests {
    /// A directory with these files during a test.
    static func withDirectory<Result>(
        _ files: [String: String], _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with(files) { try await body($0.path) }
    }

    static func read(_ path: String) async throws -> [ClientSigningKey] {
        var environment = SettingsReaderTests.minimal
        environment["APPLE_PRIVATE_KEY_FILE"] = path
        let settings = try await SettingsReaderTests.read(environment)
        return try SigningKeyFiles.read(try #require(settings.signingKeys.values.first))
    }

    @Test func `a file with Apple's name contains the key ID`() async throws {
        try await Self.withDirectory(["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]) { path in
            let keys = try await Self.read("\(path)/AuthKey_K1L2M3N4O5.p8")
            #expect(keys.map(\.keyID) == ["K1L2M3N4O5"])
        }
    }

    @Test func `all keys of a directory are used, and no other files`() async throws {
        let key = SettingsReaderTests.privateKey
        let files = [
            "AuthKey_K1L2M3N4O5.p8": key, "AuthKey_A1L2M3N4O5.p8": key, "README": "no key",
            "AuthKey_short.p8": "no key",
        ]
        try await Self.withDirectory(files) { path in
            let keys = try await Self.read(path)
            #expect(Set(keys.map(\.keyID)) == ["K1L2M3N4O5", "A1L2M3N4O5"])
        }
    }

    @Test(arguments: [[:], ["README": "x"], ["AuthKey_K1L2M3N4O5.p8": "no key"]])
    func `a directory without a usable key is a mistake`(files: [String: String]) async throws {
        try await Self.withDirectory(files) { path in
            let mistakes = try await SettingsReaderTests.mistakes(["APPLE_PRIVATE_KEY_FILE": path])
            #expect(mistakes == ["APPLE_PRIVATE_KEY_FILE"])
        }
    }

    @Test func `a file that is no key is the mistake, whatever its name is`() async throws {
        let wrong = [
            "key.txt": "SIWA_PORT=8080", "empty.p8": "", "other.pem": "-----BEGIN CERTIFICATE-----\n",
        ]
        try await Self.withDirectory(wrong) { path in
            for name in wrong.keys {
                let mistakes = try await SettingsReaderTests.mistakes([
                    "APPLE_PRIVATE_KEY_FILE": "\(path)/\(name)"
                ])
                #expect(mistakes == ["APPLE_PRIVATE_KEY_FILE"], "\(name)")
            }
        }
        try await Self.withDirectory(["key.p8": SettingsReaderTests.privateKey]) { path in
            let mistakes = try await SettingsReaderTests.mistakes([
                "APPLE_PRIVATE_KEY_FILE": "\(path)/key.p8"
            ])
            #expect(mistakes == ["APPLE_KEY_ID"])
        }
    }

    @Test func `a directory's keys have their own IDs`() async throws {
        try await Self.withDirectory(["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]) { path in
            let mistakes = try await SettingsReaderTests.mistakes([
                "APPLE_PRIVATE_KEY_FILE": path, "APPLE_KEY_ID": "K1L2M3N4O5",
            ])
            #expect(mistakes == ["APPLE_KEY_ID"])
        }
    }
}
