import AppleAccounts
import HTTPAPI
import SignIn
import Testing

@testable import siwa

@Suite struct SettingsFileTests {
    static let hash = SettingsReaderTests.hash
    static let other = String(repeating: "1b", count: 32)
    static let file = """
        siwa_host: 0.0.0.0
        siwa_port: 9000
        database_url: sqlite:///var/lib/siwa.sqlite
        apple_issuers: [https://appleid.apple.com, https://account.apple.com]
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [com.example.app, com.example.web]
              - client_ids: [com.example.watch]
          - team_id: F6G7H8I9J0
            apps:
              - client_ids: com.example.other
        api_keys:
          - name: backend
            hash: \(hash)
          - name: watch
            hash: \(other)
            apps: [com.example.watch]
        """

    @Test func `a file describes several teams, apps and limited keys`() async throws {
        let settings = try await SettingsReaderTests.read([:], file: Self.file)
        #expect(settings.host == "0.0.0.0")
        #expect(settings.numbers[.port] == 9000)
        #expect(settings.issuers.count == 2)
        #expect(settings.deployment.apps.map(\.team.rawValue) == ["A1B2C3D4E5", "A1B2C3D4E5", "F6G7H8I9J0"])
        #expect(settings.deployment.clientIDs.count == 4)
        let watch = try #require(ClientID("com.example.watch"))
        #expect(settings.apiKeys.map(\.scope) == [.all, .only([watch])])
    }

    @Test func `an app demands nonces of this service if the file says so, and no other does`() async throws {
        let file = Self.file.replacing(
            "- client_ids: [com.example.watch]",
            with: "- client_ids: [com.example.watch]\n        require_minted_nonce: true")
        let settings = try await SettingsReaderTests.read([:], file: file)
        let demanding = settings.deployment.apps.filter(\.requiresMintedNonce)
        #expect(demanding.map(\.primaryClientID.rawValue) == ["com.example.watch"])
        for mistake in ["yes please", "1", "[]"] {
            let file = file.replacing("require_minted_nonce: true", with: "require_minted_nonce: \(mistake)")
            await #expect(throws: (any Error).self, "\(mistake)") {
                try await SettingsReaderTests.read([:], file: file)
            }
        }
    }

    @Test func `the environment takes precedence over the file`() async throws {
        let settings = try await SettingsReaderTests.read(["SIWA_PORT": "9001"], file: Self.file)
        #expect(settings.numbers[.port] == 9001)
        #expect(settings.host == "0.0.0.0")
    }

    @Test func `the environment's API keys join those of the file`() async throws {
        let third = String(repeating: "2c", count: 32)
        let settings = try await SettingsReaderTests.read(
            ["SIWA_API_KEY_HASHES": "third=\(third)"], file: Self.file)
        #expect(settings.apiKeys.map(\.name) == ["third", "backend", "watch"])
    }

    @Test func `the environment's team cannot be mixed with the file's`() async throws {
        let mistakes = try await SettingsReaderTests.mistakes([:], file: Self.file)
        #expect(mistakes.contains("APPLE_TEAM_ID"))
        #expect(mistakes.contains("APPLE_CLIENT_IDS"))
    }

    @Test(arguments: [
        ("siwa_port: 9000", "siwa_prot: 9000"), ("siwa_host: 0.0.0.0", "siwa_host: {a: b}"),
        ("team_id: F6G7H8I9J0", "team: F6G7H8I9J0"), ("team_id: F6G7H8I9J0", "team_id: A1B2C3D4E5"),
        ("[com.example.watch]\n  - team", "[com.example.app]\n  - team"),
        ("client_ids: com.example.other", "ids: x"),
        ("apps: [com.example.watch]", "apps: [com.example.nobody]"),
        ("apps: [com.example.watch]", "apps: []"),
        ("name: watch", "name: backend"), (other, hash), (other, "1234"), ("teams:", "- teams:"),
        ("siwa_port: 9000", "siwa_port: 9000\nsiwa_port: 9001"), ("siwa_port: 9000", "siwa_config: /x"),
    ])
    func `a mistake in the file is a mistake`(original: String, replacement: String) async throws {
        #expect(Self.file.contains(original))
        let file = Self.file.replacing(original, with: replacement)
        await #expect(throws: ConfigurationMistakes.self) {
            _ = try await SettingsReaderTests.read([:], file: file)
        }
    }

    @Test func `an empty file adds nothing`() async throws {
        let settings = try await SettingsReaderTests.read(SettingsReaderTests.minimal, file: "")
        #expect(settings.numbers[.port] == 8080)
    }
}
