import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import HTTPAPI
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

@Suite struct KnownSecretsTests {
    private static func hash(_ secret: String) -> String { Hexadecimal.encode(APIKeySecret.hash(secret)) }

    @Test(arguments: ["production", "development"])
    func `refuses the samples of earlier documentation everywhere`(environment: String) async throws {
        for hash in [
            "3770b689028c3f764db9a5c0e893c79c117eeaa75ccfdc849f9ca990ea469677", Self.hash("password"),
            Self.hash("password").uppercased(),
        ] {
            let mistakes = try await SettingsReaderTests.mistakes([
                "SIWA_API_KEY_HASHES": "backend=\(hash)", "SIWA_ENV": environment,
            ])
            #expect(mistakes == ["SIWA_API_KEY_HASHES"])
        }
    }

    @Test(arguments: [DevelopmentSettings.secret, "", "secret", "changeme", "siwa", "phone", "siwa_phone"])
    func `refuses a publicly known key outside development`(secret: String) async throws {
        for (environment, expected) in [
            ("production", ["SIWA_API_KEY_HASHES"]), (nil, ["SIWA_API_KEY_HASHES"]), ("development", []),
        ] as [(String?, [String])] {
            let mistakes = try await SettingsReaderTests.mistakes([
                "SIWA_API_KEY_HASHES": "phone=\(Self.hash(secret))", "SIWA_ENV": environment,
            ])
            #expect(mistakes == expected)
        }
    }

    @Test(arguments: [
        "operator", "console", "olga", "ops", "Operator", "admin1", "Console123", "siwa_operator", "billing",
    ])
    func `refuses a short word as the key of an operator`(secret: String) async throws {
        let file = """
            api_keys:
              - name: night-shift
                hash: \(Self.hash(secret))
                roles: [operator]
            """
        #expect(try await SettingsReaderTests.mistakes([:], file: file) == ["api_keys"])
        #expect(
            try await SettingsReaderTests.mistakes(["SIWA_METRICS_KEY_HASH": Self.hash(secret)]) == [
                "SIWA_METRICS_KEY_HASH"
            ])
    }

    @Test(arguments: [("production", ["webhooks.secret_files"]), ("development", [])])
    func `refuses the secret of siwa dev's webhook outside development`(
        environment: String, expected: [String]
    ) async throws {
        try await TemporaryDirectory.with { directory in
            let secret = try directory.write(DevelopmentReceivers.secret, to: "secret")
            let file = """
                webhooks:
                  - name: backend
                    url: https://backend.example.com/siwa
                    secret_files: [\(secret)]

                """
            let mistakes = try await SettingsReaderTests.mistakes(["SIWA_ENV": environment], file: file)
            #expect(mistakes == expected)
        }
    }

    @Test func `refuses a known key in the file too, and says what to do`() async throws {
        let file = "api_keys:\n  - name: backend\n    hash: \(Self.hash("password"))\n"
        var environment = SettingsReaderTests.minimal
        environment["SIWA_API_KEY_HASHES"] = nil
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReaderTests.read(environment, file: file)
        }
        #expect(error?.list.count == 1)
        #expect(error?.description.contains("siwa api-key --name backend") == true)
        #expect(error?.description.contains(Self.hash("password")) == false)
    }

    @Test func `accepts the keys that it generates`() async throws {
        for _ in 0..<20 {
            let key = Base64.encode(SecureRandom.bytes(count: 32))
            let mistakes = try await SettingsReaderTests.mistakes([
                "SIWA_API_KEY_HASHES": "backend=\(Self.hash(APIKeySecret.make()))",
                "SIWA_SEALING_KEYS": "a=\(key)",
            ])
            #expect(mistakes.isEmpty)
        }
    }

    @Test(arguments: [
        // From the sample in docker-compose.yml.
        "dHJpYWx0cmlhbHRyaWFsdHJpYWx0cmlhbHRyaWFsdHI=",
        Base64.encode(SHA256Digest.hash("sealing key of siwa dev")),
        Base64.encode(Array("0123456789abcde".utf8) + Array("0123456789abcde01".utf8)),
        Base64.encode(0..<32), Base64.encode(200..<232), Base64.encode((0..<32).reversed()),
        Base64.encode((0..<32).map { UInt8(truncatingIfNeeded: $0 * 7 + 240) }),
        Base64.encode("abcdefghijklmnopqrstuvwxyz012345".utf8),
        Base64.encode("0123456789abcdef0123456789ABCDEF".utf8),
        Base64.encode("AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPp".utf8),
        Base64.encode(SHA256Digest.hash("password")), Base64.encode(SHA256Digest.hash("")),
    ])
    func `refuses a sealing key that is not random outside development`(key: String) async throws {
        for (environment, expected) in [("production", ["SIWA_SEALING_KEYS"]), ("development", [])] {
            let mistakes = try await SettingsReaderTests.mistakes([
                "SIWA_SEALING_KEYS": "a=\(key)", "SIWA_ENV": environment,
            ])
            #expect(mistakes == expected)
        }
    }

    @Test(arguments: [
        DevelopmentClients.googleSecret, DevelopmentClients.webSecret, DevelopmentSettings.secret, "",
        "123456",
        "secret", "google", "siwa_google", "siwa_cs_google", "siwa_cs_abc",
    ])
    func `refuses a publicly known secret of an OAuth client outside development`(secret: String)
        async throws
    {
        for (environment, isRefused) in [("production", true), ("development", false)] {
            let mistakes = try await Self.clientMistakes(hash: Self.hash(secret), environment)
            #expect(mistakes.count == (isRefused ? 1 : 0), "\(mistakes)")
            #expect(mistakes.allSatisfy { $0.hasPrefix("oauth.clients.secret_hashes: of google must be") })
            #expect(!mistakes.contains { $0.contains(Self.hash(secret)) })
        }
    }

    @Test(arguments: ["production", "development"])
    func `refuses the hash of a sample as that of a client's secret everywhere`(environment: String)
        async throws
    {
        let hash = Self.hash("password").uppercased()
        #expect(try await Self.clientMistakes(hash: hash, environment).count == 1)
    }

    @Test func `accepts the client secrets that it generates`() async throws {
        for _ in 0..<5 {
            let secret = OAuthClientSecret(randomBytes: SecureRandom.bytes(count: 32))
            let mistakes = try await Self.clientMistakes(hash: secret.hash.hexadecimal, "production")
            #expect(mistakes.isEmpty)
        }
    }

    /// The mistakes of a configuration whose client `google` has a secret with this hash.
    private static func clientMistakes(hash: String, _ environment: String) async throws -> [String] {
        let sample = String(repeating: "1b", count: 32)
        let file = OAuthSettingsTests.file.replacing(sample, with: hash)
        return try await SettingsReaderTests.complaints(["SIWA_ENV": environment], file: file)
    }

    /// Documents must contain placeholders, so that no working value is copied from them.
    @Test(arguments: [
        "README.md", "docs/configuration.md", "docs/deploy.md", "docs/postgresql.md",
        "docs/backup-and-upgrade.md",
        "docker-compose.yml", "Sources/Composition/Configuration/SettingsFile.swift",
    ])
    func `no document has a hash or a key that production would accept`(path: String) async throws {
        let root = ProjectFolder.root
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        for match in text.matches(of: /[0-9a-f]{64}/) {
            let mistakes = try await SettingsReaderTests.mistakes(["SIWA_API_KEY_HASHES": "a=\(match.0)"])
            #expect(mistakes == ["SIWA_API_KEY_HASHES"], "\(match.0)")
        }
        for match in text.matches(of: /[A-Za-z0-9+\/]{43}=/) {
            let mistakes = try await SettingsReaderTests.mistakes(["SIWA_SEALING_KEYS": "a=\(match.0)"])
            #expect(mistakes == ["SIWA_SEALING_KEYS"], "\(match.0)")
        }
        for placeholder in ["PUT-THE-HASH-HERE", "3770b689…", "…", "..."] {
            let mistakes = try await SettingsReaderTests.mistakes(["SIWA_API_KEY_HASHES": "a=\(placeholder)"])
            #expect(mistakes == ["SIWA_API_KEY_HASHES"])
        }
    }
}
