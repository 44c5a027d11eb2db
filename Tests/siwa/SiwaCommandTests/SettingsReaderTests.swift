import AppleAccounts
import AppleIDClient
import ArgumentParser
import Encodings
import Foundation
import HTTPAPI
import Logging
import TestSupport
import Testing
import TokenMint

@testable import Composition
@testable import siwa

@Suite struct SettingsReaderTests {
    static let hash = String(repeating: "0a", count: 32)
    static let minimal = [
        "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": "com.example.app, com.example.web",
        "SIWA_API_KEY_HASHES": "backend=\(hash)",
    ]

    /// The settings that were reported as mistakes.
    static func mistakes(_ changes: [String: String?], file: String? = nil) async throws -> [String] {
        try await complaints(minimal(with: changes), file: file).map { String($0.prefix { $0 != ":" }) }
    }

    /// The mistakes of a whole configuration; none when it is accepted.
    static func complaints(_ environment: [String: String] = [:], file: String? = nil) async throws
        -> [String]
    {
        do {
            _ = try await read(environment, file: file)
            return []
        } catch let mistakes as ConfigurationMistakes {
            return mistakes.list
        }
    }

    /// The smallest configuration with changes; `nil` removes a variable.
    static func minimal(with changes: [String: String?]) -> [String: String] {
        changes.reduce(into: minimal) { $0[$1.key] = $1.value }
    }

    /// Reads the smallest configuration with changes.
    static func read(
        with changes: [String: String?] = [:], file: String? = nil
    ) async throws -> ServiceSettings {
        try await read(minimal(with: changes), file: file)
    }

    static func read(_ environment: [String: String], file: String? = nil) async throws -> ServiceSettings {
        guard let file else { return try await SettingsReader.read(environment: environment) }
        return try await TemporaryFile.with(file) { path in
            try await SettingsReader.read(environment: environment.merging(["SIWA_CONFIG": path]) { $1 })
        }
    }

    @Test func `three variables are enough`() async throws {
        let settings = try await Self.read()
        #expect(settings.host == "127.0.0.1")
        #expect(settings.numbers[.port] == 8080)
        #expect(settings.environment == .production)
        #expect(settings.logLevel == .info)
        #expect(settings.numbers[.addressShare] == 50)
        #expect(settings.trustedProxies.isEmpty)
        #expect(settings.database == .sqlite(path: "siwa.sqlite"))
        #expect(settings.issuers == ["https://appleid.apple.com"])
        let app = try #require(settings.deployment.apps.first)
        #expect(app.team.rawValue == "A1B2C3D4E5")
        #expect(app.primaryClientID.rawValue == "com.example.app")
        #expect(app.clientIDs.map(\.rawValue) == ["com.example.app", "com.example.web"])
        #expect(settings.apiKeys.map(\.name) == ["backend"])
        #expect(settings.apiKeys.map(\.scope) == [.all])
        guard case .remote("https://appleid.apple.com") = settings.keySource else {
            Issue.record("production asks Apple")
            return
        }
    }

    @Test func `every variable is read`() async throws {
        let settings = try await Self.read(with: [
            "SIWA_HOST": "0.0.0.0", "SIWA_PORT": "0", "SIWA_ENV": "development", "SIWA_LOG_LEVEL": "debug",
            "SIWA_ADDRESS_SHARE": "25", "SIWA_TRUSTED_PROXIES": "10.0.0.7, fd00::/8",
            "DATABASE_URL": "sqlite:///var/lib/siwa.sqlite", "APPLE_BASE_URL": "http://127.0.0.1:8081",
            "APPLE_ISSUERS": "https://appleid.apple.com,https://account.apple.com",
            "SIWA_GOOGLE_BASE_URL": "http://127.0.0.1:8082/", "APPLE_KEY_ID": "K1L2M3N4O5",
            "APPLE_PRIVATE_KEY": Self.privateKey.replacing("\n", with: "\\n"),
        ])
        #expect(settings.host == "0.0.0.0")
        #expect(settings.numbers[.port] == 0)
        #expect(settings.environment == .development)
        #expect(settings.logLevel == .debug)
        #expect(settings.numbers[.addressShare] == 25)
        #expect(settings.trustedProxies.count == 2)
        #expect(settings.database == .sqlite(path: "/var/lib/siwa.sqlite"))
        #expect(settings.issuers.count == 2)
        let location = try #require(settings.signingKeys.values.first)
        #expect(try SigningKeyFiles.read(location).map(\.keyID) == ["K1L2M3N4O5"])
        #expect(settings.googleEndpoints.certificates == "http://127.0.0.1:8082/oauth2/v3/certs")
        guard case .remote("http://127.0.0.1:8081") = settings.keySource else {
            Issue.record("development asks the emulator")
            return
        }
    }

    /// A throw-away key made with the openssl command line.
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
        OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
        1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
        -----END PRIVATE KEY-----
        """

    @Test(arguments: [
        ("APPLE_TEAM_ID", nil), ("APPLE_TEAM_ID", "short"), ("APPLE_TEAM_ID", "a1b2c3d4e5"),
        ("APPLE_CLIENT_IDS", nil), ("APPLE_CLIENT_IDS", ""), ("APPLE_CLIENT_IDS", " , "),
        ("APPLE_CLIENT_IDS", "com.example.app,com.example.app"), ("APPLE_CLIENT_IDS", "com.example.app,"),
        ("APPLE_CLIENT_IDS", "com example"), ("SIWA_API_KEY_HASHES", nil), ("SIWA_API_KEY_HASHES", "backend"),
        ("SIWA_API_KEY_HASHES", "backend=12"), ("SIWA_API_KEY_HASHES", "a b=\(hash)"),
        ("SIWA_API_KEY_HASHES", "a=\(hash),a=\(String(hash.reversed()))"),
        ("SIWA_API_KEY_HASHES", "a=\(hash),b=\(hash)"), ("SIWA_PORT", "65536"), ("SIWA_ADDRESS_SHARE", "0"),
        ("SIWA_ADDRESS_SHARE", "101"), ("SIWA_ADDRESS_SHARE", "50%"), ("SIWA_TRUSTED_PROXIES", "proxy"),
        ("SIWA_TRUSTED_PROXIES", "10.0.0.0/33"), ("SIWA_TRUSTED_PROXIES", "10.0.0.1,"),
        ("SIWA_TRUSTED_PROXIES", "10.0.0.1, 0.0.0.0/0"), ("SIWA_TRUSTED_PROXIES", "::/0"),
        ("SIWA_TRUSTED_PROXIES", "::ffff:0:0/96"), ("SIWA_TRUSTED_PROXIES", "0.0.0.0/1,128.0.0.0/1"),
        ("SIWA_TRUSTED_PROXIES", "10.0.0.7,2000::/3"), ("SIWA_HOST", "*"), ("SIWA_HOST", "0.0.0.0:8080/"),
        ("SIWA_CONSOLE_HOST", "*"), ("SIWA_PORT", "-1"),
        ("SIWA_PORT", "http"), ("SIWA_ENV", "staging"), ("SIWA_LOG_LEVEL", "loud"), ("SIWA_HOST", "a b"),
        ("DATABASE_URL", "mysql://x"), ("DATABASE_URL", "sqlite://"), ("DATABASE_URL", "sqlite://a?mode=ro"),
        ("DATABASE_URL", "postgres://u:sec@ret@h/db"), ("DATABASE_URL", "postgresql://h/db?sslmode=x"),
        ("APPLE_BASE_URL", "http://127.0.0.1:8081"), ("SIWA_GOOGLE_BASE_URL", "http://127.0.0.1:8082"),
        ("APPLE_KEYS_FILE", "/nonexistent/keys.json"),
        ("APPLE_ISSUERS", "https://evil.example"), ("APPLE_ISSUERS", "http://appleid.apple.com"),
        ("APPLE_ISSUERS", "https://appleid.apple.com.evil.example"),
        ("APPLE_ISSUERS", "https://evilapple.com"),
        ("APPLE_ISSUERS", "https://appleid.apple.com@evil.example"), ("APPLE_ISSUERS", ","),
        ("APPLE_KEY_ID", "K1L2M3N4O5"), ("APPLE_PRIVATE_KEY_FILE", "/nonexistent/key.p8"),
        ("APPLE_PRIVATE_KEY_FILE", "/nonexistent/AuthKey_K1L2M3N4O5.p8"),
        ("SIWA_CONFIG", "/nonexistent/siwa.yaml"), ("SIWA_PROT", "80"), ("APPLE_CLIENT_ID", "x"),
    ])
    func `a mistake is reported with the name of its variable`(name: String, value: String?) async throws {
        #expect(try await Self.mistakes([name: value]).contains(name))
    }

    @Test func `all mistakes are reported together`() async throws {
        let mistakes = try await Self.mistakes([
            "APPLE_TEAM_ID": "x", "SIWA_PORT": "y", "DATABASE_URL": "z", "SIWA_ENV": "w", "SIWA_XYZ": "v",
        ])
        #expect(Set(mistakes) == ["APPLE_TEAM_ID", "SIWA_PORT", "DATABASE_URL", "SIWA_ENV", "SIWA_XYZ"])
    }

    @Test(arguments: ["\n", "\r\n", " ", "\t", "\u{A0}", "\u{FEFF}", "\u{200B}", "\u{1}"])
    func `no value of the environment has anything invisible at its ends`(end: String) async throws {
        for setting in Setting.all where setting.name != Setting.privateKey.name {
            let value = Self.minimal[setting.name] ?? setting.defaultText ?? "x"
            for text in [value + end, end + value] {
                let mistakes = try await Self.mistakes([setting.name: text])
                #expect(mistakes.contains(setting.name), "\(setting.name)")
            }
        }
    }

    @Test func `a line end after the location of the database is named, and nothing else is wrong with it`()
        async throws
    {
        let environment = Self.minimal(with: ["DATABASE_URL": "sqlite:///var/lib/siwa.sqlite\r\n"])
        let error = await #expect(throws: ConfigurationMistakes.self) { try await Self.read(environment) }
        #expect(
            error?.list == ["DATABASE_URL: ends with a line end, which belongs to the value here; remove it"])
        await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReader.database(environment: environment)
        }
        #expect(try await Self.mistakes(["DATABASE_URL": " "]) == ["DATABASE_URL", "DATABASE_URL"])
        #expect(
            try await Self.mistakes(["DATABASE_URL": "\"sqlite:///a\n\""]) == [
                "DATABASE_URL", "DATABASE_URL",
            ])
        #expect(try await Self.mistakes(["SIWA_CONFIG": "/nonexistent\n"]) == ["SIWA_CONFIG", "SIWA_CONFIG"])
    }

    @Test(arguments: [
        ("database_url: \"sqlite:///x\\n\"", "database_url"),
        ("database_url: |\n  sqlite:///x\n", "database_url"),
        ("siwa_host: ' ::1'", "siwa_host"), ("siwa_trusted_proxies: ['10.0.0.7 ']", "siwa_trusted_proxies"),
        ("apple_keys_file: \"/keys.json\\r\"", "apple_keys_file"),
        ("webhooks:\n  - name: \"a\\n\"", "webhooks.name"),
        ("webhooks:\n  - name: a\n    secret_files: [\"/a\\n\"]", "webhooks.secret_files"),
        ("oauth:\n  issuer: \"https://a.example\\n\"", "oauth.issuer"),
        ("oauth:\n  clients:\n    - id: a\n      name: \"A \"", "oauth.clients.name"),
        ("oauth:\n  clients:\n    - id: a\n      name: {en: \"A \"}", "oauth.clients.name.en"),
    ])
    func `no value of the file has anything invisible at its ends`(file: String, name: String) async throws {
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await Self.read(file: file)
        }
        let found = error?.list.filter { $0.contains("which belongs to the value here") } ?? []
        #expect(found.count == 1)
        #expect(found.first?.contains(": \(name): ") == true, "\(found)")
        if name == "database_url" {
            await #expect(throws: ConfigurationMistakes.self) {
                try await TemporaryFile.with(file) { path in
                    try await SettingsReader.database(environment: ["SIWA_CONFIG": path])
                }
            }
        }
    }

    @Test func `the lines of a key in place of its file end with a line end`() async throws {
        let changes = ["APPLE_KEY_ID": "K1L2M3N4O5", "APPLE_PRIVATE_KEY": "\n" + Self.privateKey + "\n"]
        #expect(try await Self.mistakes(changes) == [])
    }

    @Test(arguments: [
        ("SIWA_PROT", "SIWA_PORT"), ("APPLE_CLIENT_ID", "APPLE_CLIENT_IDS"), ("SIWA_ENVIRONMENT", "SIWA_ENV"),
    ])
    func `an unknown variable is reported with the nearest known one`(name: String, nearest: String)
        async throws
    {
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await Self.read(with: [name: "value"])
        }
        #expect(error?.description.contains("did you mean \(nearest)?") == true)
    }

    @Test func `the page on configuration has each setting with its default and its bounds`() throws {
        let page = try ProjectFolder.text("docs/configuration.md")
        for setting in Setting.all {
            let row = page.split(separator: "\n").first { line in
                line.hasPrefix("|")
                    && (line.split(separator: "|").first?.contains("`\(setting.name)`") ?? false)
            }
            let text = try #require(row, "\(setting.name)")
            if let standard = setting.defaultText { #expect(text.contains(standard), "\(setting.name)") }
            if case .number(let range, _) = setting.kind {
                #expect(text.contains("\(range.lowerBound) to \(range.upperBound)"), "\(setting.name)")
            }
            if case .choice(let words, _) = setting.kind {
                for word in words { #expect(text.contains("`\(word)`"), "\(setting.name)") }
            }
        }
    }

    @Test func `the help of serve has every setting, in lines of 80 characters`() {
        let help = Serve.helpMessage(columns: 80)
        for setting in Setting.all { #expect(help.contains(setting.name)) }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func `no message repeats a value`() async throws {
        let secret = "s3cr3t-value"
        for setting in Setting.all {
            var environment = Self.minimal
            let isDatabase = setting.name == Setting.database.name
            environment[setting.name] = isDatabase ? "postgres://user:\(secret)@host/db" : secret
            do {
                let settings = try await Self.read(environment)
                #expect(!"\(settings.signingKeys)".contains(secret))
            } catch {
                #expect(!"\(error)".contains(secret))
            }
        }
    }

    @Test func `allowed hosts can be set in development, and not in production`() async throws {
        let hosts = ["SIWA_ALLOWED_HOSTS": "siwa, 192.0.2.7,::1"]
        let environment = Self.minimal.merging(["SIWA_ENV": "development"]) { $1 }.merging(hosts) { $1 }
        var settings = try await Self.read(environment)
        #expect(settings.allowedHosts == ["siwa", "192.0.2.7", "::1"])
        settings.publicURL = "https://signin.test/x"
        settings.host = "0.0.0.0"
        let check = try #require(settings.foreignPages)
        for host in ["siwa:8080", "localhost", "signin.test"] { try check.check(host: [host]) }
        #expect(throws: ForeignPageRefusal.host) { try check.check(host: ["0.0.0.0"]) }
        #expect(try await Self.mistakes(hosts) == ["SIWA_ALLOWED_HOSTS"])
        #expect(try await Self.read().foreignPages == nil)
    }

    /// Any program of the network can send `Host: localhost`.
    @Test(arguments: [
        "0.0.0.0", "::", "192.168.1.6", "10.0.0.1", "siwa", "fe80::1", "127.1", "128.0.0.1", "a.localhost",
    ])
    func `a service without API keys does not listen where other machines reach it`(host: String)
        async throws
    {
        var environment = Self.minimal.merging(["SIWA_ENV": "development", "SIWA_HOST": host]) { $1 }
        #expect(try await Self.read(environment).host == host, "with a key it does")
        environment["SIWA_API_KEY_HASHES"] = nil
        let error = await #expect(throws: ConfigurationMistakes.self) { try await Self.read(environment) }
        #expect(error?.list.count == 1 && error?.description.contains("SIWA_HOST") == true)
    }

    @Test(arguments: [nil, "127.0.0.1", "127.0.0.2", "::1", "localhost"])
    func `a service without API keys listens for this machine`(host: String?) async throws {
        var environment = Self.minimal.merging(["SIWA_ENV": "development"]) { $1 }
        (environment["SIWA_HOST"], environment["SIWA_API_KEY_HASHES"]) = (host, nil)
        #expect(try await Self.read(environment).host == host ?? "127.0.0.1")
    }

    @Test(arguments: ["siwa:8080", "http://siwa", "*", "a b", "siwa,,"])
    func `an invalid host name is a mistake`(value: String) async throws {
        let mistakes = try await Self.mistakes(["SIWA_ENV": "development", "SIWA_ALLOWED_HOSTS": value])
        #expect(mistakes == ["SIWA_ALLOWED_HOSTS"])
    }

    @Test func `the key for the metrics differs from all API keys`() async throws {
        let other = String(repeating: "1b", count: 32)
        let settings = try await Self.read(with: ["SIWA_METRICS_KEY_HASH": other])
        #expect(settings.metricsKey != nil)
        for value in [Self.hash, "12", "siwa_key"] {
            #expect(try await Self.mistakes(["SIWA_METRICS_KEY_HASH": value]) == ["SIWA_METRICS_KEY_HASH"])
        }
        let named = ["SIWA_METRICS_KEY_HASH": other, "SIWA_API_KEY_HASHES": "metrics=\(Self.hash)"]
        #expect(try await Self.mistakes(named) == ["SIWA_METRICS_KEY_HASH"])
    }

    @Test func `production needs a key for callers, development does not`() async throws {
        #expect(try await Self.mistakes(["SIWA_API_KEY_HASHES": nil, "SIWA_ENV": "development"]).isEmpty)
        #expect(try await Self.mistakes(["SIWA_API_KEY_HASHES": nil]) == ["SIWA_API_KEY_HASHES"])
    }

    @Test func `a pinned key set replaces the URL, and must be usable`() async throws {
        let good = String(decoding: TokenMint.shared.keySet, as: UTF8.self)
        for (content, isGood) in [(good, true), ("{}", false), ("", false), ("{\"keys\":[]}", false)] {
            let mistakes = try await TemporaryFile.with(content) { path in
                try await Self.mistakes(["APPLE_KEYS_FILE": path])
            }
            #expect(mistakes.isEmpty == isGood)
        }
        let both = try await TemporaryFile.with(good) { path in
            try await Self.mistakes([
                "APPLE_KEYS_FILE": path, "APPLE_BASE_URL": "http://127.0.0.1:1", "SIWA_ENV": "development",
            ])
        }
        #expect(both == ["APPLE_BASE_URL"])
    }

    @Test(arguments: ["nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"])
    func `a private key in the wrong format is refused, inline or in a file`(pem: String) async throws {
        let inline = try await Self.mistakes(["APPLE_KEY_ID": "K1L2M3N4O5", "APPLE_PRIVATE_KEY": pem])
        #expect(inline == ["APPLE_PRIVATE_KEY"])
        let file = try await TemporaryFile.with(pem) { path in
            try await Self.mistakes(["APPLE_KEY_ID": "K1L2M3N4O5", "APPLE_PRIVATE_KEY_FILE": path])
        }
        #expect(file == ["APPLE_PRIVATE_KEY_FILE"])
    }

    @Test func `a private key in a file is read`() async throws {
        let mistakes = try await TemporaryFile.with(Self.privateKey) { path in
            try await Self.mistakes(["APPLE_KEY_ID": "K1L2M3N4O5", "APPLE_PRIVATE_KEY_FILE": path])
        }
        #expect(mistakes.isEmpty)
    }
}
