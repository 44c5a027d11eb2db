import AppAttestation
import Testing

@testable import siwa

@Suite struct AppCheckSettingsTests {
    static let file = """
        siwa_public_url: https://signin.example.com
        siwa_sealing_keys: ["a=\(SealingSettingsTests.first)"]
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [com.example.app, com.example.pro]
                services_ids: [com.example.web]
                web_redirect_url: https://example.com/signed-in
                app_attest:
                  - bundle_id: com.example.app
                    app_check: monitored
                    environment: development
                    platform: macos
                    first_attesting_version: 4.10
                  - bundle_id: com.example.pro
                    app_check: off
        api_keys:
          - name: backend
            hash: \(SettingsReaderTests.hash)
        oauth:
          clients:
            - id: phone
              kind: native
              app: com.example.app
              name: Example
              scopes: [openid]
              redirect_uris: ["com.example.app:/callback"]
              bundle_id: com.example.pro
              app_check: enforced
              first_attesting_version: 2
        """

    @Test func `the file declares a mode for each bundle ID and each native client`() async throws {
        let policies = try await SettingsReaderTests.read([:], file: Self.file).appCheck
        #expect(policies.all.count == 3)
        let app = try #require(policies.ofApp("com.example.app"))
        #expect(app.appID.text == "A1B2C3D4E5.com.example.app")
        #expect(app.mode == .monitored)
        #expect(app.environment == .development)
        #expect(app.platform == .macOS)
        // As text, not as a number.
        #expect(app.firstAttestingVersion == AppVersion("4.10"))
        let pro = try #require(policies.ofApp("com.example.pro"))
        #expect(pro.mode == .off)
        #expect(pro.environment == .production)
        #expect(pro.firstAttestingVersion == nil)
        let client = try #require(policies.ofOAuthClient("phone"))
        #expect(client.mode == .enforced)
        #expect(client.appID == pro.appID)
        #expect(client.environment == .production)
        #expect(client.firstAttestingVersion == AppVersion("2"))
    }

    @Test func `without app_attest nothing is checked`() async throws {
        #expect(try await SettingsReaderTests.read(SettingsReaderTests.minimal).appCheck.all.isEmpty)
    }

    @Test(arguments: [
        ("bundle_id: com.example.app\n", "bundle_id: com.example.*\n", "app_attest.bundle_id"),
        ("bundle_id: com.example.app\n", "bundle_id: com.example.web\n", "app_attest.bundle_id"),
        ("bundle_id: com.example.app\n", "bundle_id: com.example.App\n", "app_attest.bundle_id"),
        ("bundle_id: com.example.app\n", "bundle_id: com.example.pro\n", "two entries"),
        ("- bundle_id: com.example.app\n", "- bundle_id: \"\"\n", "app_attest.bundle_id: is missing"),
        ("team_id: A1B2C3D4E5", "team_id: a1b2c3d4e5", "teams.team_id"),
        ("app_check: monitored", "app_check: on", "app_attest.app_check"),
        ("app_check: monitored", "mode: monitored", "app_attest.mode"),
        ("environment: development", "environment: sandbox", "app_attest.environment"),
        ("platform: macos", "platform: android", "app_attest.platform"),
        ("first_attesting_version: 4.10", "first_attesting_version: 4.x", "first_attesting_version"),
        (
            "com.example.pro\n      app_check: enforced", "com.example.nobody\n      app_check: enforced",
            "oauth.clients.bundle_id"
        ),
        ("app_check: enforced", "app_check: strict", "oauth.clients.app_check"),
    ])
    func `a mistake is reported at the start, with its place`(
        original: String, replacement: String, place: String
    ) async throws {
        #expect(Self.file.contains(original))
        let file = Self.file.replacing(original, with: replacement, maxReplacements: 1)
        do {
            _ = try await SettingsReaderTests.read([:], file: file)
            Issue.record("accepted")
        } catch let mistakes as ConfigurationMistakes {
            #expect(mistakes.description.contains(place), "\(mistakes)")
        }
    }
}
