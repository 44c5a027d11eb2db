import AppleAccounts
import AsyncHTTPClient
import Cryptography
import Foundation
import HTTPAPI
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import siwa

/// Log lines of a running service about its dependencies.
@Suite(.timeLimit(.hung)) struct HealthMonitorTests {
    /// Runs the service in this directory. Apple cannot be reached.
    static func run(
        _ directory: String, _ changes: [String: String] = [:],
        _ body: @Sendable (Log) async throws -> Void
    ) async throws -> Log {
        let own = [
            "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:9", "SIWA_PORT": "0",
            "DATABASE_URL": "sqlite://\(directory)/siwa.sqlite",
        ]
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(own) { $1 }.merging(changes) { $1 })
        let log = Log()
        let observation = ProcessObservation(level: .notice) { log.add($0) }
        let service = try await ComposedService(
            settings: settings, observation: observation, signals: [], healthInterval: .milliseconds(20))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            log.port = try await service.boundPort()
            try await body(log)
            await service.stop()
            try await group.waitForAll()
        }
        observation.sink.flush()
        return log
    }

    @Test func `a lost database, its return and Apple's absence are logged once each, and the end`()
        async throws
    {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let log = try await Self.run(directory) { log in
                try await log.wait(for: "no token is verified")
                let (path, away) = ("\(directory)/siwa.sqlite", "\(directory)/away")
                try FileManager.default.moveItem(atPath: path, toPath: away)
                try await log.wait(for: "the database is lost")
                try FileManager.default.moveItem(atPath: away, toPath: path)
                try await log.wait(for: "the database is back")
            }
            for words in [
                "no token is verified", "the database is lost", "the database is back", "stopping", "stopped",
            ] {
                #expect(log.lines.filter { $0.contains(words) }.count == 1, "\(words) \(log.lines)")
            }
            let lost = try #require(log.lines.first { $0.contains("the database is lost") })
            #expect(lost.contains("cause=unavailable"))
            #expect(lost.contains("moved, replaced or deleted"))
        }
    }

    @Test func `a key that is put into the directory, and one that is taken away, are logged`() async throws {
        let files = ["AuthKey_K1L2M3N4O5.p8": SettingsReaderTests.privateKey]
        try await SigningKeySettingsTests.withDirectory(files) { keys in
            try await SigningKeySettingsTests.withDirectory([:]) { directory in
                let log = try await Self.run(directory, ["APPLE_PRIVATE_KEY_FILE": keys]) { log in
                    try await log.wait(for: "no token is verified")
                    try FileManager.default.copyItem(
                        atPath: "\(keys)/AuthKey_K1L2M3N4O5.p8", toPath: "\(keys)/AuthKey_A1L2M3N4O5.p8")
                    try await log.wait(for: "a signing key appeared")
                    try FileManager.default.removeItem(atPath: "\(keys)/AuthKey_K1L2M3N4O5.p8")
                    try await log.wait(for: "a signing key is gone")
                }
                let lines = log.lines.filter { $0.contains("signing key") }
                #expect(lines.count == 2)
                #expect(lines.first?.contains("key_id=A1L2M3N4O5") == true)
                #expect(lines.last?.contains("key_id=K1L2M3N4O5") == true)
            }
        }
    }

    @Test func `values that cannot be opened are logged at the start, with the names of their keys`()
        async throws
    {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let ring = try #require(
                SealingKey(name: "2026-01", bytes: SealingSettingsTests.bytes(1)).flatMap {
                    SealingKeyRing([$0])
                })
            try await StoredAccounts.with(directory, keys: ring) { store in
                try await StoredAccounts.signIn(["0.a.1"], code: "code", in: store)
            }
            let right = "2026-01=\(SealingSettingsTests.first)"
            let other = "2026-11=\(SealingSettingsTests.second)"
            for (keys, count) in [(other, 1), ("\(other),\(right)", 0)] {
                let log = try await Self.run(directory, ["SIWA_SEALING_KEYS": keys]) { _ in }
                let lines = log.lines.filter { $0.contains("stored refresh tokens do not open") }
                #expect(lines.count == count)
                #expect(lines.allSatisfy { $0.contains("SIWA_SEALING_KEYS lacks 2026-01") })
            }
        }
    }

    @Test func `a wrong sealing key is said by the probes of the service`() async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let ring = try #require(
                SealingKey(name: "a", bytes: SealingSettingsTests.bytes(3)).flatMap { SealingKeyRing([$0]) })
            try await StoredAccounts.with(directory, keys: ring) { store in
                try await StoredAccounts.signIn(["0.a.1"], code: "code", in: store)
            }
            let keys = "a=\(SealingSettingsTests.first)"
            _ = try await Self.run(directory, ["SIWA_SEALING_KEYS": keys]) { log in
                let client = HTTPClient(eventLoopGroupProvider: .singleton)
                let response = try await client.execute(
                    HTTPClientRequest(url: "http://127.0.0.1:\(log.port)/health"), timeout: .seconds(30))
                let body = String(buffer: try await response.body.collect(upTo: 65_536))
                try await client.shutdown()
                #expect(body.contains(#""warnings":["sealing_keys_wrong"]"#), "\(body)")
            }
        }
    }

    /// The log so far.
    final class Log: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        private let boundPort = Mutex(0)

        /// Port of the service.
        var port: Int {
            get { boundPort.withLock { $0 } }
            set { boundPort.withLock { $0 = newValue } }
        }

        struct NotLogged: Error { let words: String }

        var lines: [Substring] {
            String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n")
        }

        func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }

        /// Key files are checked every three seconds.
        func wait(for words: String) async throws {
            let end = ContinuousClock.now + .seconds(30)
            while !lines.contains(where: { $0.contains(words) }) {
                guard ContinuousClock.now < end else { throw NotLogged(words: words) }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
