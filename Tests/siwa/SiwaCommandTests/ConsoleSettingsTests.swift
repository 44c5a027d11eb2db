import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import Logging
import TestSupport
import Testing

@testable import Composition
@testable import Console

/// Settings of the console, and what its page shows of all settings.
@Suite struct ConsoleSettingsTests {
    private static let operatorHash = String(repeating: "3d", count: 32)
    private static let file = """
        siwa_console_port: 9090
        api_keys:
          - name: olga
            hash: \(operatorHash)
            roles: [operator]
        """

    @Test func `the console is off until it has a port`() async throws {
        let settings = try await SettingsReaderTests.read()
        #expect(settings.numbers[.consolePort] == 0)
        #expect(settings.consoleHost == "127.0.0.1")
        #expect(settings.apiKeys.map(\.roles) == [[.backend]])
    }

    @Test func `the file gives a key the role of an operator`() async throws {
        let settings = try await SettingsReaderTests.read(file: Self.file)
        #expect(settings.numbers[.consolePort] == 9090)
        #expect(settings.apiKeys.map(\.roles) == [[.backend], [.operator]])
        let both = Self.file.replacing("[operator]", with: "[backend, operator]")
        let keys = try await SettingsReaderTests.read(file: both).apiKeys
        #expect(keys.last?.roles == [.backend, .operator])
    }

    @Test(arguments: [
        ("roles: [operator]", "roles: [admin]"), ("roles: [operator]", "roles: []"),
        ("roles: [operator]", "roles: [operator, Operator]"), ("    roles: [operator]", ""),
        ("siwa_console_port: 9090", "siwa_console_port: 8080"),
        ("siwa_console_port: 9090", "siwa_console_port: 65536"),
        ("siwa_console_port: 9090", "siwa_console_port: 9090\nsiwa_console_host: http://x/"),
        ("siwa_console_port: 9090", "siwa_console_port: 9090\nsiwa_console_allowed_hosts: https://x"),
    ])
    func `a console that nobody could use, or everyone, is a mistake`(old: String, new: String) async throws {
        #expect(try await SettingsReaderTests.mistakes([:], file: Self.file) == [])
        let mistakes = try await SettingsReaderTests.mistakes([:], file: Self.file.replacing(old, with: new))
        #expect(!mistakes.isEmpty)
    }

    @Test func `each setting says where it comes from`() async throws {
        var environment = SettingsReaderTests.minimal
        environment["SIWA_CONSOLE_PORT"] = "9091"
        environment["SIWA_LOG_LEVEL"] = ""
        let origins = try await SettingsReaderTests.read(environment, file: Self.file + "\nsiwa_port: 9000")
            .origins
        #expect(origins.map(\.name) == Setting.all.map(\.name))
        func place(_ setting: Setting) -> SettingOrigin.Place? {
            origins.first { $0.name == setting.name }?.place
        }
        #expect(place(.consolePort) == .environment)
        #expect(place(.port) == .file)
        #expect(place(.logLevel) == .byDefault)
        #expect(place(.publicURL) == .notSet)
        #expect(origins.first { $0.name == Setting.consolePort.name }?.text == "9091")
    }

    @Test func `the page shows no secret, and fingerprints that tell keys apart`() async throws {
        let sealing = [1, 2].map { seed in Base64.encode(SHA256Digest.hash([UInt8(seed)]).bytes) }
        let values = [
            "SIWA_SEALING_KEYS": "new=\(sealing[0]),old=\(sealing[1])",
            "DATABASE_URL": "postgres://siwa:pass%40word@db.example.com/accounts",
            "SIWA_METRICS_KEY_HASH": String(repeating: "4e", count: 32),
            "SIWA_TRACES_URL": "http://127.0.0.1:4318", "SIWA_TRACES_HEADERS": "authorization=Basic aTpi",
        ]
        let settings = try await SettingsReaderTests.read(with: values, file: Self.file)
        let shown = ShownConfiguration(settings)
        let texts =
            shown.settings.map { $0.value ?? "" }
            + shown.sections.flatMap(\.entries).flatMap(\.facts).map(\.value)
        for secret in sealing + ["pass", "word", "aTpi", Self.operatorHash, SettingsReaderTests.hash] {
            #expect(!texts.contains { $0.contains(secret) }, "\(secret)")
        }
        let keys = try #require(shown.settings.first { $0.name == "SIWA_SEALING_KEYS" }?.value)
        let prints = keys.matches(of: /(\w+) \(([0-9a-f]{8})\)/)
        #expect(prints.map { String($0.1) } == ["new", "old"])
        #expect(Set(prints.map { String($0.2) }).count == 2)
        #expect(texts.contains { $0.contains("db.example.com") })
        #expect(shown.settings.first { $0.name == "SIWA_TRACES_HEADERS" }?.value == "set")
        #expect(shown.sections.map(\.title) == ["Apps", "API keys", "Receivers of events"])
    }

    @Test func `an API key says where it comes from, and has the fingerprint of the audit log`() async throws
    {
        let settings = try await SettingsReaderTests.read(
            file: Self.file + "\n  - name: other\n    hash: \(String(repeating: "5f", count: 32))")
        let shown = ShownConfiguration(settings)
        let row = try #require(shown.settings.first { $0.name == "SIWA_API_KEY_HASHES" })
        #expect(row.value == "one key, see below" && row.source == "environment")
        let keys = try #require(shown.sections.first { $0.title == "API keys" }).entries
        let facts = keys.map { Dictionary(uniqueKeysWithValues: $0.facts.map { ($0.name, $0.value) }) }
        #expect(
            facts.map { $0["from"] } == [
                "environment, SIWA_API_KEY_HASHES", "file, api_keys", "file, api_keys",
            ])
        for (key, fact) in zip(keys, facts) {
            #expect(fact["fingerprint"] == settings.fingerprints["api_key \(key.name)"], "\(key.name)")
        }
    }

    @Test func `the address of a webhook is shown without what can be a secret in it`() async throws {
        try await TemporaryFile.with("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") { path in
            let webhook = """
                webhooks:
                  - name: backend
                    url: https://hooks.example.com/T01/s3cretXXXXXXXXXX
                    secret_files: [\(path)]
                """
            let settings = try await SettingsReaderTests.read(
                [:], file: SettingsFileTests.file + "\n" + webhook)
            let facts = ShownConfiguration(settings).sections.flatMap(\.entries).flatMap(\.facts)
            #expect(facts.first { $0.name == "pushed to" }?.value == "https://hooks.example.com/T01/s3cr…")
        }
    }

    @Test func `the list of registrations has the values of siwa doctor's lines`() async throws {
        let values = [
            "SIWA_PUBLIC_URL": "https://signin.example.com", "APPLE_SERVICES_IDS": "com.example.site",
            "APPLE_CLIENT_IDS": "com.example.app", "SIWA_WEB_REDIRECT_URL": "https://example.com/signed-in",
            "SIWA_SEALING_KEYS": "k=\(Base64.encode(SHA256Digest.hash([7]).bytes))",
        ]
        let settings = try await SettingsReaderTests.read(with: values)
        let lines = Registrations(settings: settings).lines
        #expect(
            lines == [
                "developer.apple.com, Identifiers, com.example.app, Sign in with Apple, Edit, Server-to-Server "
                    + "Notification Endpoint: https://signin.example.com/v1/apple/notifications",
                "developer.apple.com, Identifiers, Services IDs, com.example.site, Configure, "
                    + "domain signin.example.com, Return URL: https://signin.example.com/v1/web/callback",
            ])
        let shown = ShownConfiguration(settings).registrations
        #expect(shown.count == lines.count)
        for (registration, line) in zip(shown, lines) {
            #expect(line.hasPrefix(registration.place))
            #expect(registration.values.allSatisfy { line.contains($0.value) })
        }
        #expect(shown.map(\.check) == [nil, ServicesIDsCheck.name])
    }
}

/// The ages of keys on the overview: from the starts that this database has seen.
@Suite struct OverviewKeysTests {
    private static let start = StoredAccounts.now

    private static func settings(_ sealingKeys: String, _ directory: String) async throws -> ServiceSettings {
        try await SettingsReaderTests.read(with: [
            "SIWA_SEALING_KEYS": sealingKeys, "APPLE_PRIVATE_KEY_FILE": "\(directory)/AuthKey_K1L2M3N4O5.p8",
        ])
    }

    private static func ages(
        _ settings: ServiceSettings, in store: any ServiceStore
    ) async -> [String: KeyCondition.Age] {
        let keys = await ComposedOverview.keys(settings, in: store)
        return Dictionary(keys.map { ($0.name, $0.age) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `a key has the moment of the first start that had it, as long as it is the same key`()
        async throws
    {
        let files = ["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            let (one, two) = (SealingSettingsTests.first, SealingSettingsTests.second)
            let first = try await Self.settings("a=\(one)", directory)
            let second = try await Self.settings("b=\(two),a=\(one)", directory)
            // The name of an older key for another key.
            let third = try await Self.settings("a=\(two)", directory)
            try await StoredAccounts.with(directory) { store in
                #expect(await Self.ages(first, in: store) == ["a": .notSeen, "team A1B2C3D4E5": .notSeen])
                let later = Self.start.advanced(byMilliseconds: 86_400_000)
                _ = try await store.noteConfiguration(first.fingerprints, at: Self.start)
                _ = try await store.noteConfiguration(second.fingerprints, at: later)
                #expect(
                    await Self.ages(second, in: store) == [
                        "a": .firstSeen(Self.start), "b": .firstSeen(later),
                        "team A1B2C3D4E5": .firstSeen(Self.start),
                    ])
                #expect(await Self.ages(third, in: store)["a"] == .notSeen)
            }
        }
    }

    @Test func `a database that does not answer leaves the ages unknown`() async throws {
        let files = ["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]
        try await SigningKeySettingsTests.withDirectory(files) { directory in
            let settings = try await Self.settings("a=\(SealingSettingsTests.first)", directory)
            let database = try await settings.database(in: directory)
            await database.close()
            #expect(
                await Self.ages(settings, in: database.accounts) == [
                    "a": .unknown, "team A1B2C3D4E5": .unknown,
                ])
        }
    }
}

extension ServiceSettings {
    fileprivate func database(in directory: String) async throws -> any ServiceDatabase {
        var settings = self
        settings.database = .sqlite(path: "\(directory)/siwa.sqlite")
        return try await settings.openDatabase(logger: .silent)
    }
}
