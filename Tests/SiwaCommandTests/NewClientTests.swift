import AuthorizationServer
import Testing

@testable import siwa

@Suite struct NewClientTests {
    static func draft(_ kind: String) -> NewClientLines.Draft {
        NewClientLines.Draft(
            id: "client-1", kind: kind, app: "com.example.app", name: "My \"best\" client", scopes: [],
            redirectURIs: [], platform: nil, projectID: nil, appFlip: false)
    }

    @Test func `the printed lines are read back as the client, with the hash of the printed secret`()
        async throws
    {
        var draft = Self.draft("google_linking")
        draft.projectID = "example-project"
        draft.appFlip = true
        let lines = try NewClientLines(of: draft, withSecret: false, isDevelopment: false)
        let secret = try #require(lines.secret)
        let base = OAuthSettingsTests.file
        let end = try #require(base.firstRange(of: "  clients:\n")).upperBound
        let settings = try await SettingsReaderTests.read([:], file: base[..<end] + lines.yaml)
        let client = try #require(settings.oauth?.clients["client-1"])
        #expect(client.secretHashes.contains { $0.matches(secret) })
        #expect(client.name.english == "My \"best\" client")
        #expect(!lines.yaml.contains(secret))
    }

    @Test func `a native client has no secret unless one is wanted`() throws {
        var draft = Self.draft("native")
        draft.redirectURIs = ["com.example.app:/oauth2redirect"]
        #expect(try NewClientLines(of: draft, withSecret: false, isDevelopment: false).secret == nil)
        #expect(try NewClientLines(of: draft, withSecret: true, isDevelopment: false).secret != nil)
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
}
