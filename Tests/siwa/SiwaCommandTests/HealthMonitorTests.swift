import AppleAccounts
import AsyncHTTPClient
import Foundation
import HTTPAPI
import KeySets
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Composition

/// Log lines of a running service about its dependencies.
@Suite(.timeLimit(.hung)) struct HealthMonitorTests {
    /// Runs the service in this directory. Apple cannot be reached.
    static func run(
        _ directory: String, _ changes: [String: String] = [:], _ body: @Sendable (Log) async throws -> Void
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
            ] { #expect(log.lines.filter { $0.contains(words) }.count == 1, "\(words) \(log.lines)") }
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
            try await StoredAccounts.with(directory, keys: ResealingTests.ring("2026-01")) { store in
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
            try await StoredAccounts.with(directory, keys: ResealingTests.ring("a")) { store in
                try await StoredAccounts.signIn(["0.a.1"], code: "code", in: store)
            }
            let keys = "a=\(SealingSettingsTests.second)"
            _ = try await Self.run(directory, ["SIWA_SEALING_KEYS": keys]) { log in
                let body = try await HTTPClient.withHTTPClient { client in
                    let request = HTTPClientRequest(url: "http://127.0.0.1:\(log.port)/health")
                    let response = try await client.execute(request, timeout: .seconds(30))
                    return String(buffer: try await response.body.collect(upTo: 65_536))
                }
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

@Suite struct HealthLogTests {
    static let team = "A1B2C3D4E5"

    /// The levels of the lines for these checks, one after the other.
    static func levels(_ statuses: [KeySetHealth.Status]) -> [[Logger.Level]] {
        var log = HealthLog()
        return statuses.map { log.notice($0).map(\.level) }
    }

    @Test func `a key set that fails, expires and recovers is logged once for each change`() {
        #expect(
            Self.levels([
                .unavailable(nil), .ready, .ready, .stale(.unreachable), .stale(.timedOut), .stale(.timedOut),
                .unavailable(.timedOut), .unavailable(.timedOut), .ready, .ready,
            ]) == [[], [], [], [.warning], [], [], [.error], [], [.notice], []])
    }

    @Test func `a start during an outage is logged, and an old set alone is not`() {
        #expect(
            Self.levels([.unavailable(nil), .unavailable(.unreachable), .stale(nil), .stale(nil), .ready])
                == [[], [.error], [.notice], [], []])
    }

    @Test func `a lost database is logged once for each cause, and when it is back`() {
        var log = HealthLog()
        #expect(log.notice(nil).isEmpty)
        let lost = log.notice(StorageError(.unavailable, detail: "connection refused"))
        #expect(lost.map(\.level) == [.error])
        #expect(lost.first?.fields == ["cause": "unavailable", "detail": "connection refused"])
        #expect(log.notice(StorageError(.unavailable, detail: "no answer in time")).isEmpty)
        #expect(log.notice(StorageError(.readOnly, detail: "")).first?.fields == ["cause": "readOnly"])
        #expect(log.notice(nil).map(\.level) == [.notice])
        #expect(log.notice(nil).isEmpty)
    }

    @Test func `a wrong clock is logged once, and when it is right again`() {
        var log = HealthLog()
        let skews: [Int64?] = [nil, 0, 49, 50, 49, 120, nil, 41, 39, 49, -120, -9000, .min, 0]
        let levels = skews.map { log.notice(secondsAhead: $0).map(\.level) }
        #expect(levels == [[], [], [], [.error], [], [], [], [], [.notice], [], [.error], [], [], [.notice]])
    }

    @Test func `what the sample of stored values gives is logged when it changes`() {
        var log = HealthLog(sealedWarning: "lacks a")
        let levels = ["lacks a", "lacks a, b", nil, nil, "lacks a"].map {
            log.notice(sealedWarning: $0).map(\.level)
        }
        #expect(levels == [[], [.warning], [.notice], [], [.warning]])
    }

    @Test func `signing keys that appear and disappear are logged with their IDs`() {
        var log = HealthLog()
        func look(_ keyIDs: Set<String>, _ trouble: String? = nil) -> [String] {
            log.notice(HealthLog.SigningKeys(keyIDs: keyIDs, trouble: trouble), ofTeam: Self.team)
                .map { "\($0.message) \($0.fields["key_id"] ?? $0.fields["cause"] ?? "")" }
        }
        #expect(look(["A"]).isEmpty)
        #expect(look(["A", "B"]) == ["a signing key appeared B"])
        #expect(look(["B"]) == ["a signing key is gone A"])
        #expect(
            look(["B"], "x.p8") == [
                "a signing key cannot be read; one that was read before stays in use x.p8"
            ])
        #expect(look(["B"], "x.p8").isEmpty)
        #expect(look(["B"]) == ["signing keys can be read again "])
        #expect(look([]) == ["the last signing key is gone: Apple cannot be asked B"])
        #expect(look([]).isEmpty)
    }
}
