import AppleAccounts
import AuthorizationServer
import Foundation
import HTTPAPI
import TestSupport
import Testing

@testable import Composition
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
        let settings = try await SettingsReaderTests.read(file: "")
        #expect(settings.numbers[.port] == 8080)
    }
}

/// The directory of texts in further languages, from the file of settings to the pages.
@Suite struct TextsDirectoryTests {
    /// The template with a mark in front of each text, as a translator would fill it.
    private static func file(_ mark: String, _ change: (String) -> String = { $0 }) -> String {
        change(ClientTexts.template.replacing(": \"", with: ": \"\(mark)"))
    }

    private static func read(_ files: [String: String]) async throws -> OAuthSettings? {
        try await TemporaryDirectory.with { directory in
            for (name, text) in files {
                let place = URL(filePath: directory.path).appending(path: name)
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: place)
            }
            return try await settings(directory.path)
        }
    }

    private static func settings(_ path: String) async throws -> OAuthSettings? {
        let file = OAuthSettingsTests.file
            .replacing("  session_lifetime: 900", with: "  session_lifetime: 900\n  texts_directory: \(path)")
            .replacing(
                "text: {en: See your devices,", with: "text: {en: See your devices, fr: Voir vos appareils,")
        return try await SettingsReaderTests.read([:], file: file).oauth
    }

    @Test func `a French and a Hebrew file make two languages`() async throws {
        let found = try await Self.read([
            "fr.yaml": Self.file("FR "), "he.yml": Self.file("HE "), ".hidden": "x", "..data/fr.yaml": "x",
        ])
        let settings = try #require(found)
        #expect(settings.languages.all.map(\.rawValue) == ["en", "ar", "tr", "pl", "fr", "he"])
        let french = try #require(settings.languages.language(tag: "fr-FR"))
        #expect(settings.languages.all.map(\.direction).suffix(2) == ["ltr", "rtl"])
        let scope = try #require(ScopeToken("devices.read"))
        #expect(settings.scopes[scope]?.text[french] == "Voir vos appareils")
        #expect(settings.scopes[.email]?.text[french] == "FR See your email address")
    }

    @Test func `a file of JSON is read too`() async throws {
        let texts = TranslationDraft.texts(of: PageTexts.parts)
        var root: [String: Any] = [:]
        func set(_ object: inout [String: Any], _ names: ArraySlice<Substring>, _ text: String) {
            guard let name = names.first.map(String.init) else { return }
            guard names.count > 1 else { return object[name] = text }
            var group = object[name] as? [String: Any] ?? [:]
            set(&group, names.dropFirst(), text)
            object[name] = group
        }
        for (path, text) in texts { set(&root, path.split(separator: ".")[...], text) }
        let json = try JSONSerialization.data(withJSONObject: root)
        let settings = try await Self.read(["fr.json": String(decoding: json, as: UTF8.self)])
        #expect(settings?.languages.all.last?.rawValue == "fr")
    }

    @Test(
        arguments: [
            (["fr.yaml": "authorize: x"], "authorize must be a mapping"),
            (["fr.yaml": "- a"], "the file must be a mapping"),
            (["fr.yaml": ""], "the file must be a mapping"), (["fr.yaml": "a: [}"], "is not YAML"),
            (["fr.yaml": "connections: {titel: x}"], "connections.titel is not known; did you mean title?"),
            (["fr.yaml": "conections: {title: x}"], "conections is not known; did you mean connections?"),
            (["fr.yaml": "connections: {title: [x]}"], "connections.title must be a text"),
            (["fr.yaml": "connections: {title: x}"], "texts are missing"),
            (["fr.yaml": String(repeating: "#", count: 65_537)], "more than 65536 bytes"),
            (["README.md": "x"], "keep no other files there"),
            (["fr.yaml": file("x"), "fr.json": "{}"], "several files for fr"),
            (
                ["fr.yaml": file("x") { $0.replacing("{day}", with: "{date}") }],
                "connections.since lacks {day}"
            ),
            (["fr.yaml": file("x") { $0.replacing("goOn", with: "") + "\nfr: x" }], "fr is not known"),
            (["de_DE.yaml": file("x")], "name a file of texts as its language"),
            (["pl.yaml": file("x")], "built in"),
        ] as [([String: String], String)])
    func `each mistake says where it is`(files: [String: String], words: String) async throws {
        let error = await #expect(throws: ConfigurationMistakes.self) { try await Self.read(files) }
        let text = try #require(error).description
        #expect(text.contains("oauth.texts_directory: ") && text.contains(words), "\(text)")
    }

    @Test func `a directory that is not there is a mistake`() async throws {
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await Self.settings("/nowhere/texts")
        }
        #expect(error?.description.contains("must be a directory") == true)
    }

    @Test func `the template has every text of the pages in English`() throws {
        let texts = TranslationDraft.texts(of: PageTexts.parts)
        #expect(texts.count > 100)
        #expect(texts.contains { $0.path == "authorize.consent.signed_in_as" && $0.text == "Signed in as" })
        #expect(texts.contains { $0.path == "app_flip.unrecoverable" })
        #expect(Set(texts.map(\.path)).count == texts.count)
        // Each text is there once, and nothing else than texts, groups and the comment.
        #expect(ClientTexts.template.matches(of: /: "/).count == texts.count)
    }
}
