import AppleAccounts
import AppleEmulator
import AppleIDClient
import Encodings
import Foundation
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import Composition

/// `siwa doctor` with the fake Apple: once without errors, then with each error.
@Suite(.timeLimit(.hung)) struct DoctorTests {
    static let limits = AppleTimeLimits(connect: .seconds(4), read: .seconds(20), total: .seconds(20))

    static func examine(
        _ apple: RunningApple, _ directory: String, _ changes: [String: String?] = [:], skew: Int64 = 0
    ) async throws -> DoctorReport {
        try await DoctorChecks(
            environment: apple.environment(directory, changes), limits: limits,
            secondsSince1970: { Int64(Date().timeIntervalSince1970) + skew }
        ).run()
    }

    /// The checks that found an error.
    static func wrong(_ report: DoctorReport) -> [String] {
        report.findings.filter { $0.verdict == .wrong }.map(\.check)
    }

    /// One fake Apple and one directory during a test.
    static func with(_ body: @Sendable (RunningApple, String) async throws -> Void) async throws {
        try await RunningApple.with { apple in
            try await SigningKeySettingsTests.withDirectory([:]) { try await body(apple, $0) }
        }
    }

    @Test(arguments: [40, 80]) func `the report fits the terminal, and says the same`(columns: Int) {
        let report = DoctorReport(findings: [
            .good("configuration", "1 team, 1 app, 1 client ID"),
            .wrong(
                "client secret", "Apple refuses the client secrets of this team with invalid_client",
                advice:
                    "Put a valid key of this team in place.\nThen run siwa doctor once more, and look again."),
        ])
        let text = report.text(in: TextLayout(columns: columns, hasColors: false))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= columns }, "\(text)")
        #expect(text.split { " \n".contains($0) } == report.text.split { " \n".contains($0) })
        let colored = report.text(in: TextLayout(columns: columns, hasColors: true))
        #expect(colored.contains("\u{1B}[1;31mwrong") && !report.text.contains("\u{1B}"))
    }

    @Test func `finds no error when there is none`() async throws {
        try await Self.with { apple, directory in
            try await StoredAccounts.with(directory, keys: ResealingTests.ring("a")) { store in
                try await StoredAccounts.signIn(["0.a.1", "0.b.1"], code: "code", in: store)
            }
            let report = try await Self.examine(apple, directory)
            #expect(report.isHealthy, "\(report.text)")
            #expect(!report.findings.contains { $0.verdict == .skipped }, "\(report.text)")
            #expect(report.text.hasSuffix("Nothing is wrong."))
            let secrets = report.findings.filter { $0.check == "client secret" }
            #expect(secrets.map(\.verdict) == [.good, .good])
            let json = try JSONValue(parsing: Array(report.json.utf8))
            #expect(json["healthy"] == .bool(true))
            #expect(json["checks"]?.array?.count == report.findings.count)
        }
    }

    @Test(
        arguments: [
            (["APPLE_TEAM_ID": "Z9Z9Z9Z9Z9"], ["client secret"]),
            (["APPLE_KEY_ID": "Z9Z9Z9Z9Z9"], ["client secret"]),
            (["APPLE_CLIENT_IDS": "com.example.app,com.example.typo"], ["client secret"]),
            (["APPLE_CLIENT_IDS": "com.example.typo"], ["client secret"]),
            (["SIWA_SEALING_KEYS": nil], ["sealing keys"]),
            (["SIWA_PUBLIC_URL": "http://signin.example.com"], ["public URL"]),
            (["SIWA_PUBLIC_URL": "https://localhost:8080"], []),
            (["SIWA_PUBLIC_URL": "http://127.0.0.1:8080"], []),
            (["SIWA_PUBLIC_URL": "http://[::1]:8080"], []),
            (["SIWA_PUBLIC_URL": "https://192.0.2.1"], ["public URL"]),
            (["DATABASE_URL": "sqlite:///nonexistent/siwa.sqlite"], ["database"]),
            (["DATABASE_URL": "sqlite:///etc/passwd"], ["database"]),
            (["SIWA_PORT": "x"], ["configuration"]), (["SIWA_PROT": "80"], ["configuration"]),
            (["APPLE_PRIVATE_KEY_FILE": "/nonexistent/AuthKey_K1L2M3N4O5.p8"], ["configuration"]),
            (["APPLE_TEAM_ID": "x", "SIWA_PORT": "y"], ["configuration", "configuration"]),
        ] as [([String: String?], [String])])
    func `finds exactly the existing errors`(changes: [String: String?], checks: [String]) async throws {
        try await Self.with { apple, directory in
            let report = try await Self.examine(apple, directory, changes)
            #expect(Self.wrong(report) == checks, "\(report.text)")
            #expect(report.findings.filter { $0.verdict == .wrong }.allSatisfy { $0.advice != nil })
        }
    }

    @Test func `finds a revoked key`() async throws {
        try await Self.with { apple, directory in
            try apple.state.removeClientKey(apple.key.keyID, of: RunningApple.team)
            let report = try await Self.examine(apple, directory)
            #expect(Self.wrong(report) == ["client secret"])
            #expect(report.text.contains("1. The key was revoked"))
        }
    }

    @Test(arguments: [
        // No return URL is registered.
        (RunningApple.clientID, "com.example.web", "refuses the return URL"),
        // Bundle IDs, which are all that there is.
        (RunningApple.clientID, "", "refuses com.example.app (invalid_client)"),
        (RunningApple.clientID, "com.example.typo", "refuses com.example.typo (invalid_client)"),
    ])
    func `asks Apple's page for each Services ID`(client: String, services: String, text: String) async throws
    {
        try await Self.with { apple, directory in
            let changes: [String: String?] = [
                "APPLE_CLIENT_IDS": client, "APPLE_SERVICES_IDS": services,
                "SIWA_WEB_REDIRECT_URL": "https://example.com/signed-in",
            ]
            let report = try await Self.examine(apple, directory, changes)
            let found = report.findings.filter { $0.check == "Services ID" }
            #expect(found.map(\.verdict) == [.wrong], "\(report.text)")
            #expect(found.first?.text.contains(text) == true, "\(report.text)")
        }
    }

    @Test(arguments: [-3600, 3600] as [Int64])
    func `finds a wrong clock, and that it is the cause`(skew: Int64) async throws {
        try await Self.with { apple, directory in
            let report = try await Self.examine(apple, directory, skew: skew)
            #expect(Self.wrong(report).first == "clock", "\(report.text)")
            // A clock that is an hour behind signs secrets that expire now; one that is ahead signs secrets
            // from the future.
            if skew > 0 { #expect(report.text.contains("because the clock of this machine is")) }
        }
    }

    @Test func `finds that Apple is unreachable, and skips the checks that need it`() async throws {
        try await Self.with { apple, directory in
            let report = try await Self.examine(
                apple, directory, ["APPLE_BASE_URL": "http://siwa-test.invalid"])
            #expect(Self.wrong(report) == ["Apple"])
            let skipped = report.findings.filter { $0.verdict == .skipped }.map(\.check)
            #expect(skipped == ["clock", "key set", "client secret"])
        }
    }

    @Test(arguments: [FaultBody.html, .empty, .malformed, .noKeys, .unusableKeys])
    func `finds an invalid key set`(body: FaultBody) async throws {
        try await Self.with { apple, directory in
            var fault = EndpointFault()
            (fault.status, fault.body) = (200, body)
            apple.state.setFault(fault, on: .keys)
            let report = try await Self.examine(apple, directory)
            #expect(Self.wrong(report) == ["key set"])
        }
    }

    @Test func `finds accounts of an app that is no longer primary, or no longer configured`() async throws {
        try await Self.with { apple, directory in
            try await StoredAccounts.with(directory) { store in
                try await StoredAccounts.signIn(["0.a.1"], clientID: "com.example.web", in: store)
                try await StoredAccounts.signIn(["0.a.1"], clientID: "com.example.gone", in: store)
            }
            let report = try await Self.examine(apple, directory)
            #expect(Self.wrong(report) == ["database", "database"])
            #expect(report.text.contains("com.example.gone, which is not configured"))
            #expect(report.text.contains("com.example.web as the primary App ID"))
        }
    }

    @Test func `an empty file is a database that the service will create`() async throws {
        try await Self.with { apple, directory in
            try Data().write(to: URL(fileURLWithPath: "\(directory)/siwa.sqlite"))
            let report = try await Self.examine(apple, directory)
            #expect(report.isHealthy, "\(report.text)")
            #expect(report.findings.contains { $0.check == "database" && $0.verdict == .note })
        }
    }

    @Test func `reads a database that the service has open`() async throws {
        try await Self.with { apple, directory in
            try await StoredAccounts.with(directory) { store in
                try await StoredAccounts.signIn(["0.a.1"], in: store)
                let report = try await Self.examine(apple, directory)
                #expect(Self.wrong(report).isEmpty)
            }
        }
    }

    @Test(arguments: [
        ("b=\(SealingSettingsTests.first)", "sealed by a, which is not configured"),
        ("a=\(SealingSettingsTests.second)", "1 of 1 stored values cannot be decrypted"),
    ])
    func `finds sealed values that cannot be opened`(keys: String, text: String) async throws {
        try await Self.with { apple, directory in
            try await StoredAccounts.with(directory, keys: ResealingTests.ring("a")) { store in
                try await StoredAccounts.signIn(["0.a.1"], code: "code", in: store)
            }
            let report = try await Self.examine(apple, directory, ["SIWA_SEALING_KEYS": keys])
            #expect(Self.wrong(report) == ["sealing keys"])
            #expect(report.text.contains(text), "\(report.text)")
        }
    }

    @Test func `a note is not an error`() async throws {
        try await Self.with { apple, directory in
            let changes: [String: String?] = [
                "APPLE_PRIVATE_KEY_FILE": nil, "SIWA_SEALING_KEYS": nil, "SIWA_PUBLIC_URL": nil,
                "SIWA_API_KEY_HASHES": nil,
            ]
            let report = try await Self.examine(apple, directory, changes)
            #expect(report.isHealthy, "\(report.text)")
            let notes = report.findings.filter { $0.verdict == .note }.map(\.check)
            #expect(Set(notes).isSuperset(of: ["API keys", "signing key", "sealing keys", "public URL"]))
        }
    }

    @Test func `nothing secret is printed`() async throws {
        try await Self.with { apple, directory in
            for changes in [[:], ["SIWA_SEALING_KEYS": "oops=\(SealingSettingsTests.second)x"]] {
                let report = try await Self.examine(apple, directory, changes)
                for text in [report.text, report.json] {
                    #expect(!text.contains(SealingSettingsTests.first.prefix(12)))
                    #expect(!text.contains(SealingSettingsTests.second.prefix(12)))
                    #expect(!text.contains(SettingsReaderTests.hash))
                    #expect(!text.contains("PRIVATE KEY---"))
                }
            }
        }
    }
}

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
