import AppleAccounts
import Foundation
import Logging
import TestSupport
import Testing

@testable import Composition

@Suite(.timeLimit(.hung)) struct DisabledFeaturesTests {
    static let key = ["APPLE_PRIVATE_KEY": SettingsReaderTests.privateKey, "APPLE_KEY_ID": "K1L2M3N4O5"]
    static let sealing = ["SIWA_SEALING_KEYS": "a=\(SealingSettingsTests.first)"]

    static func text(_ changes: [String: String]) async throws -> String? {
        let settings = try await SettingsReaderTests.read(with: changes)
        return DisabledFeatures(settings)?.text
    }

    @Test func `names the disabled features, and the settings that enable them`() async throws {
        let grants = "code exchange, daily check and erasure proof"
        #expect(
            try await Self.text([:])
                == "off: \(grants) (set APPLE_PRIVATE_KEY_FILE and SIWA_SEALING_KEYS); sign-in in a browser "
                + "(set SIWA_WEB_REDIRECT_URL, SIWA_PUBLIC_URL and SIWA_SEALING_KEYS)")
        #expect(
            try await Self.text(Self.key) == "off: \(grants) (set SIWA_SEALING_KEYS); sign-in in a browser "
                + "(set SIWA_WEB_REDIRECT_URL, SIWA_PUBLIC_URL and SIWA_SEALING_KEYS)")
        #expect(try await Self.text(WebSettingsTests.web) == "off: \(grants) (set APPLE_PRIVATE_KEY_FILE)")
    }

    @Test func `is absent when all keys are configured`() async throws {
        #expect(try await Self.text(Self.key.merging(Self.sealing) { $1 }) == nil)
    }

    @Test func `names the teams without a key when others have one`() async throws {
        var settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(Self.key) { $1 }.merging(WebSettingsTests.web) { $1 })
        let other = App(
            team: try #require(TeamID("F6G7H8I9J0")),
            primaryClientID: try #require(ClientID("com.example.other")), otherClientIDs: [])
        settings.deployment = try Deployment(apps: settings.deployment.apps + [other])
        #expect(
            DisabledFeatures(settings)?.text
                == "off: code exchange, daily check and erasure proof (set private_key_file of team F6G7H8I9J0)"
        )
    }

    /// The log of a service that is started and stopped.
    static func log(_ changes: [String: String]) async throws -> [Substring] {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            try await HealthMonitorTests.run(directory, changes) { _ in }.lines
        }
    }

    @Test func `the service logs it once when it starts`() async throws {
        let lines = try await Self.log([:]).filter { $0.contains("off: ") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("notice") == true)
        #expect(lines.first?.contains("SIWA_SEALING_KEYS") == true)
        #expect(
            try await Self.log(Self.key.merging(Self.sealing) { $1 }).allSatisfy { !$0.contains("off: ") })
    }
}

@Suite struct ServiceManagerTests {
    @Test func `tells the socket that the environment names`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "notify")
            let socket = try NotifySocket(path)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path]))
            #expect(manager.tell("READY=1"))
            #expect(manager.tell("STOPPING=1"))
            #expect(socket.next() == "READY=1")
            #expect(socket.next() == "STOPPING=1")
            #expect(socket.next() == nil)
        }
    }

    #if os(Linux)
        @Test func `tells a socket with an abstract name`() throws {
            let name = "@siwa-test-\(UUID().uuidString)"
            let socket = try NotifySocket(name)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
            #expect(manager.tell("READY=1"))
            #expect(socket.next() == "READY=1")
        }
    #endif

    @Test func `reports that nothing listens there`() throws {
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
        #expect(!manager.tell("READY=1"))
    }

    @Test(arguments: ["", "/", "@", "vsock:2:1", "notify", "/" + String(repeating: "a", count: 200)])
    func `takes nothing else for a socket`(address: String) {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": address]) == nil)
    }

    @Test func `is absent without the variable`() {
        #expect(ServiceManager(environment: [:]) == nil)
    }
}

@Suite struct EventLoopCountTests {
    @Test(
        arguments: [
            ("Name:\tsiwa\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\t8\n", 1),
            ("Cpus_allowed:\t000000ff,00000000,00000001\n", 9),
        ])
    func `counts the CPUs that the process may run on`(status: String, count: Int) {
        #expect(EventLoopCount.usableCPUs(status) == count)
    }

    @Test(arguments: [
        "", "Name:\tsiwa\nCpus_allowed_list:\t0-1\n", "Cpus_allowed:\t\n", "Cpus_allowed:\t0\n",
    ])
    func `knows nothing where the system says nothing`(status: String) {
        #expect(EventLoopCount.usableCPUs(status) == nil)
    }
}

@Suite struct StartWarningsTests {
    private static func warnings(_ changes: [String: String], file: String? = nil) async throws -> [String] {
        let settings = try await SettingsReaderTests.read(with: changes, file: file)
        return StartWarnings(settings).texts
    }

    @Test func `a usual configuration has none`() async throws {
        #expect(try await Self.warnings([:]).isEmpty)
        let settings = try await SettingsReaderTests.read([:], file: OAuthSettingsTests.file)
        #expect(StartWarnings(settings).texts.isEmpty)
    }

    @Test func `an issuer on another host than the public URL is named`() async throws {
        let file = OAuthSettingsTests.file.replacing(
            "oauth:\n", with: "oauth:\n  issuer: https://other.example.net\n", maxReplacements: 1)
        let settings = try await SettingsReaderTests.read([:], file: file)
        let texts = StartWarnings(settings).texts
        #expect(
            texts.count == 1 && texts[0].hasPrefix("oauth.issuer has the host other.example.net"), "\(texts)")
    }

    @Test(arguments: [("AuthKey_K1L2M3N4O5.p8", 1), ("AuthKey_A1B2C3D4E5.p8", 0), ("apple.p8", 0)])
    func `a key ID that is not the file's is named`(name: String, count: Int) async throws {
        try await SigningKeySettingsTests.withDirectory([name: SettingsReaderTests.privateKey]) { path in
            let texts = try await Self.warnings([
                "APPLE_PRIVATE_KEY_FILE": "\(path)/\(name)", "APPLE_KEY_ID": "A1B2C3D4E5",
            ])
            #expect(texts.count == count, "\(texts)")
            #expect(texts.allSatisfy { $0.contains("is named for key K1L2M3N4O5") })
        }
    }
}
