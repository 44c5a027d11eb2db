import AppleAccounts
import JOSE
import Testing

@testable import siwa

@Suite struct WebSettingsTests {
    static let web = [
        "SIWA_PUBLIC_URL": "https://signin.example.com/",
        "SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)",
        "SIWA_WEB_REDIRECT_URL": "https://example.com/signed-in?from=apple",
    ]

    @Test func `a redirect URL is good for every client ID of the app`() async throws {
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(Self.web) { $1 })
        #expect(settings.publicURL == "https://signin.example.com")
        #expect(
            settings.webRedirectURLs == [
                try #require(ClientID("com.example.app")): "https://example.com/signed-in?from=apple",
                try #require(ClientID("com.example.web")): "https://example.com/signed-in?from=apple",
            ])
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
    func `a redirect URL needs what the flow needs`(name: String) async throws {
        #expect(try await SettingsReaderTests.mistakes(Self.web.filter { $0.key != name }) == [name])
    }

    @Test(arguments: ["SIWA_PUBLIC_URL", "SIWA_WEB_REDIRECT_URL"])
    func `only development does without TLS`(name: String) async throws {
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
    func `what is no plain URL is a mistake`(name: String, value: String) async throws {
        #expect(try await SettingsReaderTests.mistakes(Self.web.merging([name: value]) { $1 }) == [name])
    }

    @Test func `a public URL has no query`() async throws {
        let mistakes = try await SettingsReaderTests.mistakes(["SIWA_PUBLIC_URL": "https://example.com/?a=b"])
        #expect(mistakes == ["SIWA_PUBLIC_URL"])
    }
}
