import AppleAccounts
import AppleIDClient
import AuthorizationServer
import Foundation
import TestSupport
import Testing

@testable import Composition

@Suite struct OAuthSettingsTests {
    static let file = """
        siwa_public_url: https://accounts.example.com
        siwa_sealing_keys: ["a=\(SealingSettingsTests.first)"]
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [com.example.app, com.example.web]
                web_redirect_url: https://example.com/signed-in
                name: {en: Example, pl: Przykład}
        api_keys:
          - name: backend
            hash: \(SettingsReaderTests.hash)
        oauth:
          session_lifetime: 900
          refresh_retry_window: 30
          scopes:
            - name: devices.read
              text: {en: See your devices, tr: Cihazlarını gör}
              optional: true
          clients:
            - id: google
              kind: google_linking
              app: com.example.app
              name: {en: Google, ar: جوجل}
              purpose: Controls your devices by voice.
              secret_hashes: [\(String(repeating: "1b", count: 32))]
              scopes: [openid, email, devices.read]
              project_id: example-project
              app_flip: true
              app_flip_link_paths: /flip/google
              google_client_ids: [123.apps.googleusercontent.com]
            - id: desktop
              kind: native
              app: com.example.app
              name: Example for desktops
              scopes: [openid, offline_access]
              redirect_uris: ["http://127.0.0.1"]
              first_party: true
              platform: linux
              max_authentication_age: 3600
              access_token_lifetime: 600
              refresh_retry_window: 0
        """

    @Test func `the file declares scopes and clients`() async throws {
        let settings = try await SettingsReaderTests.read([:], file: Self.file)
        let oauth = try #require(settings.oauth)
        #expect(oauth.issuer.text == "https://accounts.example.com")
        #expect(oauth.sessionLifetime == 900)
        #expect(oauth.clients.clients.map(\.id.rawValue) == ["google", "desktop"])
        let google = try #require(oauth.clients["google"])
        #expect(google.kind.name == "google_linking")
        // Two of the project, twelve of App Flip.
        #expect(google.redirectURIs.count == 14)
        #expect(google.googleLinking?.linkPaths == ["/flip/google"])
        #expect(google.scopes.text == "openid email devices.read")
        let desktop = try #require(oauth.clients["desktop"])
        #expect(desktop.lifetimes.accessToken == 600)
        #expect(oauth.refreshRetryWindow == 30 && desktop.refreshRetryWindow == 0)
        #expect(desktop.maxAuthenticationAge == 3600)
        #expect(desktop.isFirstParty && !google.isFirstParty)
        let name = oauth.appName(of: desktop.app)
        #expect(name[.polish] == "Przykład" && name[.turkish] == "Example")
    }

    @Test func `a web client is also a web app on the home screen if the file says so, and no native client`()
        async throws
    {
        let shop = """

                - id: shop
                  kind: web
                  app: com.example.app
                  name: Shop
                  secret_hashes: [\(String(repeating: "2c", count: 32))]
                  scopes: [openid]
                  redirect_uris: [https://shop.example.com/cb]
            """
        for (member, allows) in [("", false), ("true", true), ("false", false)] {
            let line = member.isEmpty ? "" : "\n      allow_home_screen_app: \(member)"
            let settings = try await SettingsReaderTests.read([:], file: Self.file + shop + line)
            #expect(settings.oauth?.clients["shop"]?.allowsHomeScreenApp == allows)
            #expect(settings.oauth?.clients["desktop"]?.allowsHomeScreenApp == false)
        }
        let file = Self.file + "\n      allow_home_screen_app: true"
        await #expect(throws: (any Error).self) { try await SettingsReaderTests.read([:], file: file) }
    }

    @Test func `an app without a name is called by the issuer's host`() async throws {
        let file = Self.file.replacing("name: {en: Example, pl: Przykład}", with: "")
        let settings = try await SettingsReaderTests.read([:], file: file)
        let oauth = try #require(settings.oauth)
        let app = try #require(oauth.clients["desktop"]).app
        #expect(oauth.appName(of: app)[.english] == "accounts.example.com")
    }

    @Test func `a file without clients has no authorization server`() async throws {
        let settings = try await SettingsReaderTests.read([:], file: SettingsFileTests.file)
        #expect(settings.oauth == nil)
    }

    @Test(arguments: [
        ("name: {en: Example, pl: Przykład}", "name: {pl: Przykład}", "teams.apps.name"),
        ("name: {en: Example, pl: Przykład}", "name: [Example]", "teams.apps.name"),
        ("first_party: true", "first_party: ja", "oauth.clients.first_party"),
        ("platform: linux", "platform: amiga", "oauth.clients.platform"),
        (
            "max_authentication_age: 3600", "max_authentication_age: soon",
            "oauth.clients.max_authentication_age"
        ),
        ("app_flip: true", "app_flip: perhaps", "oauth.clients.app_flip"),
        ("/flip/google", "flip/google", "oauth.clients.app_flip_link_paths"),
        ("session_lifetime: 900", "session_lifetime: 0", "oauth.session_lifetime"),
        ("session_lifetime: 900", "session_lifetime: 10m", "oauth.session_lifetime"),
        ("refresh_retry_window: 30", "refresh_retry_window: 601", "oauth.refresh_retry_window"),
        ("refresh_retry_window: 0", "refresh_retry_window: -1", "oauth.clients.refresh_retry_window"),
        ("app_flip: true", "refresh_retry_window: 5", "oauth.clients.refresh_retry_window"),
        ("kind: native", "kind: robot", "oauth.clients.kind"),
        ("id: desktop", "id: google", "oauth.clients.id"),
        ("[\"http://127.0.0.1\"]", "[\"http://localhost/cb\"]", "oauth.clients.redirect_uris"),
        ("optional: true", "optionall: true", "oauth.scopes.optionall"),
        ("siwa_public_url: https:", "siwa_public_url: http:", "SIWA_PUBLIC_URL"),
        ("        web_redirect_url: https://example.com/signed-in\n", "", "oauth.clients.app"),
        ("siwa_sealing_keys: [\"a=\(SealingSettingsTests.first)\"]\n", "", "SIWA_SEALING_KEYS"),
    ])
    func `a mistake in the section names its setting`(good: String, bad: String, setting: String)
        async throws
    {
        let file = Self.file.replacing(good, with: bad)
        #expect(file != Self.file)
        let complaints = try await SettingsReaderTests.complaints([:], file: file)
        #expect(complaints.contains { $0.contains(setting) })
    }

    @Test(arguments: ["team_id: A1B2C3D4E5", "team_id: short"])
    func `all mistakes are reported together, whatever else is wrong`(team: String) async throws {
        var file = Self.file.replacing("team_id: A1B2C3D4E5", with: team)
        for (good, bad) in [
            ("session_lifetime: 900", "session_lifetime: 0"), ("name: Example for desktops", "name: ''"),
            ("[\"http://127.0.0.1\"]", "[\"http://evil.example\"]"), ("platform: linux", "platform: amiga"),
            ("access_token_lifetime: 600", "access_token_lifetime: 0"),
            ("id: google", "id: google\n      audience: x"),
            ("siwa_sealing_keys: [\"a=\(SealingSettingsTests.first)\"]\n", ""),
        ] {
            #expect(file.contains(good))
            file = file.replacing(good, with: bad)
        }
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReaderTests.read(["SIWA_PORT": "x"], file: file)
        }
        let found = error?.list ?? []
        var expected = [
            "SIWA_PORT", "SIWA_SEALING_KEYS", "oauth.session_lifetime", "oauth.clients.name",
            "oauth.clients.platform", "oauth.clients.access_token_lifetime", "oauth.clients.audience",
        ]
        if team.contains("short") { expected.append("teams.team_id") }
        for setting in expected {
            #expect(found.contains { $0.hasPrefix("\(setting):") }, "\(setting) in \(found)")
        }
        // No mistake follows from another.
        #expect(!found.contains { $0.hasPrefix("oauth.clients.app:") }, "\(found)")
    }

    @Test func `an app with a mistake in its client IDs is not unknown too`() async throws {
        let file = Self.file.replacing(
            "client_ids: [com.example.app,", with: "client_ids: [com.example.app, a b,"
        )
        .replacing("session_lifetime: 900", with: "session_lifetime: 0")
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReaderTests.read([:], file: file)
        }
        let found = error?.list.map { String($0.prefix { $0 != ":" }) }
        #expect(found == ["teams.apps.client_ids", "oauth.session_lifetime"])
    }
}

@Suite struct SigningKeySettingsTests {
    /// A directory with these files during a test.
    static func withDirectory<Result>(
        _ files: [String: String], _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with(files) { try await body($0.path) }
    }

    static func read(_ path: String) async throws -> [ClientSigningKey] {
        let settings = try await SettingsReaderTests.read(with: ["APPLE_PRIVATE_KEY_FILE": path])
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
