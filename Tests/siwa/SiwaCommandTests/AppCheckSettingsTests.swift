import AppAttestation
import AppleAccounts
import Certificates
import Testing

@testable import Composition
@testable import siwa_dev

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

    /// An app with an enforced bundle ID, and clients that do not say a mode.
    static let enforced = """
        siwa_public_url: https://signin.example.com
        siwa_sealing_keys: ["a=\(SealingSettingsTests.first)"]
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [com.example.app, com.example.pro, com.example.watch, com.example.mac]
                services_ids: [com.example.web]
                web_redirect_url: https://example.com/signed-in
                app_attest:
                  - bundle_id: com.example.app
                    app_check: enforced
                    environment: development
                  - bundle_id: com.example.watch
                    app_check: off
                  - bundle_id: com.example.mac
                    platform: macos
        api_keys:
          - name: backend
            hash: \(SettingsReaderTests.hash)
        oauth:
          clients:
            - id: phone
              kind: native
              app: com.example.app
              name: Example
              first_party: true
              scopes: [openid]
              allow_native_sign_in: true
        """

    @Test func `the strictest mode of an app holds for its bundle IDs that say none`() async throws {
        let policies = try await SettingsReaderTests.read([:], file: Self.enforced).appCheck
        let modes = ["app", "pro", "watch", "mac", "web"].map { policies.ofApp("com.example.\($0)")?.mode }
        #expect(modes == [.enforced, .enforced, .off, .enforced, nil])
        let undeclared = try #require(policies.ofApp("com.example.pro"))
        #expect(undeclared.appID.text == "A1B2C3D4E5.com.example.pro")
        #expect(undeclared.environment == .development && undeclared.platform == .iOS)
        #expect(undeclared.declaredMode == .off)
        #expect(policies.ofApp("com.example.mac")?.platform == .macOS)
    }

    @Test(
        arguments: [
            ("", AppCheckMode.enforced, AppCheckMode.off), ("app_check: off", .enforced, .off),
            ("app_check: monitored", .enforced, .monitored), ("app_check: enforced", .enforced, .enforced),
            ("bundle_id: com.example.pro", .enforced, .off), ("bundle_id: com.example.watch", nil, nil),
            ("bundle_id: com.example.watch\n      app_check: monitored", .monitored, .monitored),
        ] as [(String, AppCheckMode?, AppCheckMode?)])
    func `a client has the stricter mode of its own and its bundle ID`(
        members: String, mode: AppCheckMode?, declared: AppCheckMode?
    ) async throws {
        let file = Self.enforced + "\n      \(members)\n"
        let policies = try await SettingsReaderTests.read([:], file: file).appCheck
        let policy = policies.ofOAuthClient("phone")
        #expect(policy?.mode == mode && policy?.declaredMode == declared)
    }

    @Test(arguments: ["", "app_check: off"])
    func `a client that belongs to no bundle ID keeps its mode`(members: String) async throws {
        let file =
            Self.enforced.replacing("allow_native_sign_in: true", with: "platform: linux")
            + "\n      redirect_uris: [\"http://127.0.0.1/callback\"]\n      \(members)\n"
        let policies = try await SettingsReaderTests.read([:], file: file).appCheck
        #expect((policies.ofOAuthClient("phone")?.mode ?? .off) == .off)
    }

    @Test func `a bundle ID of app_attest signs no user in on the web`() async throws {
        let file = Self.enforced.replacing("        services_ids: [com.example.web]\n", with: "")
        let settings = try await SettingsReaderTests.read([:], file: file)
        #expect(settings.webClients.keys.map(\.rawValue) == ["com.example.pro"])
        // Named as a Services ID by its web sign-in alone.
        #expect(settings.appCheck.ofApp("com.example.pro") == nil)
        let alone = file.replacing("com.example.pro, ", with: "")
        let mistakes = await #expect(throws: ConfigurationMistakes.self) {
            _ = try await SettingsReaderTests.read([:], file: alone)
        }
        #expect(mistakes?.description.contains("teams.apps.web_redirect_url: needs a Services ID") == true)
    }

    @Test func `doctor and the start show the mode of each client, and its reason`() async throws {
        let google = [
            "- id: google", "  kind: google_linking", "  app: com.example.app", "  name: Google",
            "  scopes: [openid]", "  secret_hashes: [\(SettingsReaderTests.hash)]",
            "  project_id: example-1", "  app_flip: true",
        ]
        let file = Self.enforced + google.map { "\n    \($0)" }.joined()
        let settings = try await SettingsReaderTests.read([:], file: file)
        let findings = AppCheckClientsCheck(settings: settings).run()
        #expect(findings.map(\.check).allSatisfy { $0 == "app check" })
        let texts = findings.map(\.text)
        #expect(texts.count == 7)
        #expect(texts.contains("com.example.app: enforced"))
        #expect(texts.contains { $0.hasPrefix("com.example.pro: enforced, like the strictest bundle ID") })
        #expect(texts.contains { $0.hasPrefix("com.example.watch: off") })
        #expect(texts.contains { $0.hasPrefix("com.example.web: not judged") })
        #expect(texts.contains { $0.hasPrefix("OAuth client phone: enforced, like its bundle ID") })
        #expect(
            texts.contains { $0.hasPrefix("OAuth client google: App Flip is enforced, except for intents") })
        #expect(findings.first?.verdict == .good && findings.count { $0.verdict == .note } == 6)
        let none = try await SettingsReaderTests.read()
        #expect(AppCheckClientsCheck(settings: none).run().isEmpty)
    }

    @Test func `without app_attest nothing is checked`() async throws {
        #expect(try await SettingsReaderTests.read().appCheck.all.isEmpty)
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
        let mistakes = try await SettingsReaderTests.complaints(file: file).joined()
        #expect(mistakes.contains(place), "\(mistakes)")
    }
}

@Suite struct ReceiptSettingsTests {
    private func settings(_ environment: ServiceEnvironment, baseURL: String) throws -> ServiceSettings {
        var settings = try DevelopmentSettings(
            clientIDs: ["com.example.app"], port: 0, applePort: 8081, secret: "secret",
            database: "sqlite:///tmp/siwa.sqlite"
        ).settings()
        (settings.environment, settings.keySource) = (environment, .remote(baseURL: baseURL))
        return settings
    }

    @Test func `the fake Apple's roots are trusted in development with its address`() throws {
        let roots = try settings(.development, baseURL: "http://127.0.0.1:8081").appAttestRoots
        #expect(roots.attestation === AppAttestRoots.fake.attestation)
        #expect(roots.receipt === AppAttestRoots.fake.receipt)
    }

    @Test func `everything else trusts Apple's roots alone`() throws {
        for (environment, baseURL) in [
            (ServiceEnvironment.development, KeySource.apple), (.production, KeySource.apple),
            (.production, "http://127.0.0.1:8081"),
        ] {
            let roots = try settings(environment, baseURL: baseURL).appAttestRoots
            #expect(roots.attestation === TrustAnchor.appleAppAttestation)
            #expect(roots.receipt === TrustAnchor.appleRootG3)
        }
    }

    @Test func `receipts are exchanged on request only, and need two keys`() async throws {
        let plain = try await SettingsReaderTests.read()
        #expect(plain.receipts == .off && plain.exchangedReceipts == nil)
        let name = "SIWA_APP_ATTEST_RECEIPTS"
        #expect(try await SettingsReaderTests.mistakes([name: "on"]) == [name, name])
        #expect(try await SettingsReaderTests.mistakes([name: "yes"]) == [name])
    }
}
