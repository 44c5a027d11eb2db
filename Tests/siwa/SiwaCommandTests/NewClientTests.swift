import AppAttestation
import AppleEmulator
import AppleIDClient
import ArgumentParser
import AuthorizationServer
import EmulatorServer
import Foundation
import JOSE
import TestSupport
import Testing

@testable import Composition
@testable import siwa
@testable import siwa_dev

@Suite struct NewClientTests {
    static func draft(_ kind: String) -> ClientDraft {
        ClientDraft(id: "client-1", kind: kind, app: "com.example.app", name: ["en": "My \"best\" client"])
    }

    @Test func `the printed lines are read back as the client, with the hash of the printed secret`()
        async throws
    {
        var draft = Self.draft("google_linking")
        draft.projectID = "example-project"
        draft.googleClientIDs = ["123-abc.apps.googleusercontent.com"]
        draft.appFlip = true
        let lines = try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        let secret = try #require(lines.secret)
        let base = OAuthSettingsTests.file
        let end = try #require(base.firstRange(of: "  clients:\n")).upperBound
        let settings = try await SettingsReaderTests.read([:], file: base[..<end] + lines.yaml)
        let client = try #require(settings.oauth?.clients["client-1"])
        #expect(client.secretHashes.contains { $0.matches(secret) })
        #expect(client.googleLinking?.googleClientIDs == draft.googleClientIDs)
        #expect(client.name.english == "My \"best\" client")
        #expect(!lines.yaml.contains(secret))
    }

    @Test func `a native client has no secret unless one is wanted`() throws {
        var draft = Self.draft("native")
        draft.redirectURIs = ["com.example.app:/oauth2redirect"]
        #expect(try NewClientLines(of: draft, withSecret: false, isDevelopment: false).secret == nil)
        #expect(try NewClientLines(of: draft, withSecret: true, isDevelopment: false).secret != nil)
    }

    @Test func `App Check of a native client is printed, and read back with the entry of its app`()
        async throws
    {
        var draft = Self.draft("native")
        draft.redirectURIs = ["com.example.app:/cb"]
        (draft.platform, draft.appCheck, draft.firstAttestingVersion) = ("ios", "monitored", "4.2")
        let lines = try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        #expect(lines.yaml.contains("\n    app_check: monitored"))
        #expect(lines.yaml.contains("\n    first_attesting_version: \"4.2\""))
        let base = OAuthSettingsTests.file.replacing(
            "        name: {en: Example, pl: Przykład}",
            with: "        name: {en: Example}\n        app_attest: [{bundle_id: com.example.app}]")
        let end = try #require(base.firstRange(of: "  clients:\n")).upperBound
        let settings = try await SettingsReaderTests.read([:], file: base[..<end] + lines.yaml)
        #expect(settings.oauth?.clients["client-1"]?.appCheck?.mode == .monitored)
        draft.appCheck = "on"
        #expect(throws: ConfigurationMistakes.self) {
            try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        }
        draft = Self.draft("web")
        (draft.redirectURIs, draft.appCheck) = (["https://example.com/cb"], "monitored")
        #expect(throws: ConfigurationMistakes.self) {
            try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        }
    }

    @Test func `what a library needs beside the usual is printed where it is asked for`() async throws {
        var native = Self.draft("native")
        (native.redirectURIs, native.allowsLocalhost) = (["http://localhost/cb"], true)
        let desktop = try NewClientLines(of: native, withSecret: false, isDevelopment: false)
        #expect(desktop.yaml.contains("\n    allow_localhost: true"))
        var web = Self.draft("web")
        (web.redirectURIs, web.requiresPKCE) = (["https://example.com/cb"], false)
        web.impliesOpenID = true
        let site = try NewClientLines(of: web, withSecret: false, isDevelopment: false)
        #expect(site.yaml.contains("\n    require_pkce: false"))
        #expect(site.yaml.contains("\n    imply_openid: true"))
        for (lines, rule) in [(desktop, ProofKeyRule.required), (site, .requiredWithoutNonce)] {
            let base = OAuthSettingsTests.file
            let end = try #require(base.firstRange(of: "  clients:\n")).upperBound
            let settings = try await SettingsReaderTests.read([:], file: base[..<end] + lines.yaml)
            #expect(settings.oauth?.clients["client-1"]?.proofKeyRule == rule)
        }
    }

    @Test(arguments: [
        ("native", "http://localhost/cb", "oauth.clients.redirect_uris"),
        ("native", "myapp:/cb", "oauth.clients.redirect_uris"),
        ("web", "http://example.com/cb", "oauth.clients.redirect_uris"),
        ("google_linking", "https://example.com/cb", "oauth.clients.project_id"),
        ("robot", "https://example.com/cb", "oauth.clients.kind"),
    ])
    func `what the service would refuse at its start is not printed`(
        kind: String, uri: String, setting: String
    ) throws {
        var draft = Self.draft(kind)
        draft.redirectURIs = [uri]
        let error = #expect(throws: ConfigurationMistakes.self) {
            try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        }
        #expect(error?.description.contains(setting) == true)
    }

    @Test(arguments: [
        ("native", "myapp:/cb", "--redirect-uri has \"myapp:/cb\". It must"),
        ("robot", "https://example.com/cb", "--kind must be one of"),
        ("google_linking", "https://example.com/cb", "--project-id"),
    ])
    func `mistakes are those of the options`(kind: String, uri: String, words: String) throws {
        var draft = Self.draft(kind)
        draft.redirectURIs = [uri]
        do {
            _ = try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
            Issue.record("printed")
        } catch {
            let text = NewClientMistakes(error, id: draft.id).description
            #expect(text.contains(words), "\(text)")
            #expect(!text.contains("onfiguration") && !text.contains("oauth.clients"), "\(text)")
        }
    }

    @Test func `a mistake about App Check and openid is one of the option`() throws {
        var draft = Self.draft("native")
        (draft.redirectURIs, draft.appCheck, draft.scopes) = (["com.example.app:/cb"], "on", ["email"])
        draft.impliesOpenID = true
        do {
            _ = try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
            Issue.record("printed")
        } catch {
            let text = NewClientMistakes(error, id: draft.id).description
            #expect(text.contains("--imply-openid needs the scope openid"), "\(text)")
            #expect(text.contains("--app-check"), "\(text)")
            #expect(!text.contains("oauth.clients"), "\(text)")
        }
    }

    /// The page shows the lines that the command prints, except the hash.
    @Test func `the page on OAuth shows the lines that its commands print`() throws {
        let page = try ProjectFolder.text("docs/oauth.md")
        let part = try #require(page.components(separatedBy: "\n## Clients\n").last)
            .components(separatedBy: "\n## ")[0].replacing("\\\n", with: "")
        let commands = part.matches(of: /\nsiwa client new (.+)/).map { String($0.1) }
        #expect(commands.count == 3)
        for command in commands {
            let options = try ClientNew.parse(command.split(separator: " ").map(String.init))
            let lines = try NewClientLines(of: options.draft, withSecret: false, isDevelopment: false)
            let hash = try Regex("[0-9a-f]{64}")
            #expect(part.contains(lines.yaml.replacing(hash, with: "PUT-THE-HASH-HERE") + "\n"), "\(command)")
        }
    }
}

@Suite struct ClientKeyFileTests {
    @Test func `generates a key that a service can sign with, and reads it again`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/AuthKey_ABC123DEFG.p8"
        let file = try ClientKeyFile(path: path, keyID: nil)
        let made = try file.readOrMake(teamID: "TEAM000001")
        #expect(made.keyID == "ABC123DEFG")
        #expect(try file.readOrMake(teamID: "TEAM000001").publicKey.x == made.publicKey.x)
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        #expect(throws: Never.self) { try ClientSigningKey(keyID: "ABC123DEFG", pem: pem) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: EmulatorError(.clientKeyRefused)) { try file.readOrMake(teamID: "TEAM000001") }
    }

    @Test func `requires the key ID`() {
        #expect(throws: ClientKeyFile.KeyIDMissing.self) { try ClientKeyFile(path: "/x/key.pem", keyID: nil) }
        #expect(throws: Never.self) { try ClientKeyFile(path: "/x/key.pem", keyID: "ABC123DEFG") }
    }
}
