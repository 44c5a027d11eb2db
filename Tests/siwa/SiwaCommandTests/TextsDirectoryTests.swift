import AuthorizationServer
import Foundation
import HTTPAPI
import TestSupport
import Testing

@testable import siwa

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
            (["fr.yaml": ""], "the file must be a mapping"),
            (["fr.yaml": "a: [}"], "is not YAML"),
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
