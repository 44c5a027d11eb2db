import HTTPEngine
import Testing

@testable import siwa

/// Findings of `siwa doctor` about the public URL.
@Suite struct PublicURLCheckTests {
    /// Returns the findings with the issuer https://accounts.example.com.
    static func findings(publicURL: String, hasClients: Bool = true) async throws -> [Finding] {
        var settings = try await SettingsReaderTests.read([:], file: OAuthSettingsTests.file)
        settings.publicURL = publicURL
        if !hasClients { settings.oauth = nil }
        return PublicURLCheck(settings: settings).run()
    }

    @Test(arguments: [
        ("https://accounts.example.com", true), ("https://accounts.example.com/base", true),
        ("https://signin.example.com", false),
    ])
    func `browsers reach the public URL and the issuer with the same cookies`(
        publicURL: String, hasClients: Bool
    ) async throws {
        let findings = try await Self.findings(publicURL: publicURL, hasClients: hasClients)
        #expect(!findings.contains { $0.verdict == .wrong })
    }

    @Test func `an issuer on another host is wrong, because the cookie of a sign-in does not reach it`()
        async throws
    {
        let findings = try await Self.findings(publicURL: "https://signin.example.com")
        #expect(findings.map(\.verdict) == [.wrong])
        #expect(findings.first?.text.contains("issuer https://accounts.example.com") == true)
    }

    @Test(arguments: [[], ["127.0.0.1", "::1"]]) func `an https URL without a named proxy is noted`(
        proxies: [String]
    ) async throws {
        var settings = try await SettingsReaderTests.read([:], file: OAuthSettingsTests.file)
        settings.publicURL = "https://accounts.example.com"
        settings.environment = .production
        settings.trustedProxies = try proxies.map { try #require(AddressBlock($0)) }
        let findings = PublicURLCheck(settings: settings).run()
        #expect(findings.first?.verdict == .good)
        #expect(findings.dropFirst().map(\.verdict) == (proxies.isEmpty ? [.note] : []))
        #expect(findings.last?.text.contains("SIWA_TRUSTED_PROXIES") == proxies.isEmpty)
    }
}
