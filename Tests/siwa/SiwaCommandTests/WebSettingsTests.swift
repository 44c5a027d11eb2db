import AppleAccounts
import Testing

@testable import Composition

@Suite struct WebSettingsTests {
    static let web = [
        "SIWA_PUBLIC_URL": "https://signin.example.com/",
        "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)",
        "SIWA_WEB_REDIRECT_URL": "https://example.com/signed-in?from=apple",
    ]

    @Test func `a redirect URL applies to every client ID of the app`() async throws {
        let settings = try await SettingsReaderTests.read(with: Self.web)
        #expect(settings.publicURL == "https://signin.example.com")
        #expect(
            settings.webRedirectURLs == [
                try #require(ClientID("com.example.app")): "https://example.com/signed-in?from=apple",
                try #require(ClientID("com.example.web")): "https://example.com/signed-in?from=apple",
            ])
    }

    /// Apple's page accepts Services IDs; a bundle ID counts only if the app has no other client ID.
    @Test func `a bundle ID is not a web client when another client ID of its app has a redirect URL`()
        async throws
    {
        let (app, web) = (
            try #require(ClientID("com.example.app")), try #require(ClientID("com.example.web"))
        )
        let url = "https://example.com/in"
        var settings = try await SettingsReaderTests.read(with: Self.web)
        settings.webRedirectURLs = [app: url, web: url]
        #expect(settings.webClients == [web: url])
        settings.webRedirectURLs = [app: url]
        #expect(settings.webClients == [app: url])
        settings.webRedirectURLs = [web: url]
        #expect(settings.webClients == [web: url])
        settings.webRedirectURLs = [app: url, try #require(ClientID("com.example.unknown")): url]
        #expect(settings.webClients == [app: url])
    }

    @Test(
        arguments: [
            // Of the environment, and of a file.
            (
                [
                    "APPLE_CLIENT_IDS": "com.example.app,com.example.pro",
                    "APPLE_SERVICES_IDS": "com.example.web",
                ], false
            ),
            ([:], true),
        ] as [([String: String], Bool)])
    func `only Services IDs that are named as such are used in a browser`(
        changes: [String: String], isFile: Bool
    ) async throws {
        let environment =
            isFile ? [:] : SettingsReaderTests.minimal.merging(Self.web) { $1 }.merging(changes) { $1 }
        let settings = try await SettingsReaderTests.read(
            environment, file: isFile ? Self.grouped(services: "[com.example.web]") : nil)
        let web = try #require(ClientID("com.example.web"))
        #expect(Array(settings.webClients.keys) == [web])
        let app = try #require(settings.deployment.apps.first)
        #expect(app.clientIDs.map(\.rawValue) == ["com.example.app", "com.example.pro", "com.example.web"])
    }

    @Test(arguments: [
        ("", ["teams.apps.services_ids"]), ("[com.example.web]", []),
        ("[com.example.web, com.example.other]", []), ("[com.example.pro]", ["teams.apps.client_ids"]),
        ("[\"com example web\"]", ["teams.apps.services_ids"]),
    ])
    func `an app with OAuth clients must name its Services IDs where several IDs could be one`(
        services: String, expected: [String]
    ) async throws {
        let mistakes = try await SettingsReaderTests.complaints(
            file: Self.grouped(services: services, bundleIDs: services.isEmpty ? ", com.example.web" : ""))
        #expect(mistakes.map { String($0.prefix { $0 != ":" }) } == expected, "\(mistakes)")
    }

    @Test func `without OAuth clients several IDs beside the first can be named in the link`() async throws {
        let ids = "com.example.app,com.example.pro,com.example.web"
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(Self.web) { $1 }.merging(["APPLE_CLIENT_IDS": ids]) { $1 })
        #expect(settings.webClients.count == 2)
    }

    /// A file whose app with OAuth clients has two bundle IDs.
    private static func grouped(services: String, bundleIDs: String = "") -> String {
        let line = services.isEmpty ? "" : "\n        services_ids: \(services)"
        return OAuthSettingsTests.file.replacing(
            "client_ids: [com.example.app, com.example.web]",
            with: "client_ids: [com.example.app, com.example.pro\(bundleIDs)]\(line)")
    }

    @Test func `each app has its own web clients`() async throws {
        let ids = try (1...4).map { try #require(ClientID("com.example.id\($0)")) }
        let team = try #require(TeamID("A1B2C3D4E5"))
        var settings = try await SettingsReaderTests.read()
        settings.deployment = try Deployment(apps: [
            App(team: team, primaryClientID: ids[0], otherClientIDs: [ids[1]]),
            App(team: team, primaryClientID: ids[2], otherClientIDs: [ids[3]]),
        ])
        settings.webRedirectURLs = [
            ids[0]: "https://a.example", ids[1]: "https://b.example", ids[2]: "https://c.example",
        ]
        #expect(settings.webClients == [ids[1]: "https://b.example", ids[2]: "https://c.example"])
    }

    @Test func `each app of a file has its own, or none`() async throws {
        let file = SettingsFileTests.file.replacing(
            "client_ids: [com.example.app, com.example.web]",
            with: "client_ids: [com.example.app]\n        web_redirect_url: https://example.com/in")
        let settings = try await SettingsReaderTests.read(
            ["SIWA_PUBLIC_URL": "https://a.example", "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)"],
            file: file)
        #expect(
            settings.webRedirectURLs == [try #require(ClientID("com.example.app")): "https://example.com/in"])
    }

    @Test(arguments: ["SIWA_PUBLIC_URL", "SIWA_SEALING_KEYS"])
    func `a redirect URL requires the other settings of the web flow`(name: String) async throws {
        #expect(try await SettingsReaderTests.mistakes(Self.web.filter { $0.key != name }) == [name])
    }

    @Test(arguments: ["SIWA_PUBLIC_URL", "SIWA_WEB_REDIRECT_URL"])
    func `only development allows http`(name: String) async throws {
        let plain = Self.web.merging([name: "http://localhost:3000"]) { $1 }
        #expect(try await SettingsReaderTests.mistakes(plain) == [name])
        #expect(
            try await SettingsReaderTests.mistakes(plain.merging(["SIWA_ENV": "development"]) { $1 }).isEmpty)
    }

    @Test(
        arguments: ["SIWA_PUBLIC_URL", "SIWA_WEB_REDIRECT_URL"],
        [
            "example.com", "ftp://example.com", "https://", "https:///x", "https://user@example.com",
            "https://example.com/#top", "https://exa mple.com", "https://example.com\r\nX: y",
            "javascript:alert(1)", "https://example.com:0", "https://example.com:x", "https://é.example",
            "https://example.com/<script>", #"https://example.com\@evil.example"#, "HTTPS://example.com",
        ])
    func `an invalid URL is a mistake`(name: String, value: String) async throws {
        #expect(try await SettingsReaderTests.mistakes(Self.web.merging([name: value]) { $1 }) == [name])
    }

    @Test func `a public URL has no query`() async throws {
        let mistakes = try await SettingsReaderTests.mistakes(["SIWA_PUBLIC_URL": "https://example.com/?a=b"])
        #expect(mistakes == ["SIWA_PUBLIC_URL"])
    }
}
