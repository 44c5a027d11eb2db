import AppleAccounts
import AppleEmulator
import Foundation
import HTTPAPI
import Logging
import PostgresCluster
import TestSupport
import Testing

@testable import Composition
@testable import siwa

/// The commands with PostgreSQL, while a service has the same database open.
@Suite(.timeLimit(.hung)) struct PostgresCommandTests {
    /// A server with the durability of a production server; otherwise doctor reports errors.
    static let cluster = Task { try await PostgresCluster.start() }

    static func with(_ body: @Sendable (RunningApple, String, String) async throws -> Void) async throws {
        let database = try await cluster.value.makeDatabase()
        try await DoctorTests.with { apple, directory in try await body(apple, directory, database) }
    }

    static func findings(_ apple: RunningApple, _ directory: String, _ changes: [String: String?])
        async throws
        -> DoctorReport
    {
        try await DoctorTests.examine(apple, directory, changes)
    }

    @Test func `doctor finds no error while the service runs`() async throws {
        try await Self.with { apple, directory, database in
            try await StoredAccounts.with(url: database, keys: ResealingTests.ring("a")) { store in
                try await StoredAccounts.signIn(["0.a.1"], code: "code", in: store)
                let report = try await Self.findings(apple, directory, ["DATABASE_URL": database])
                #expect(report.isHealthy, "\(report.text)")
                let place = String(database.split(separator: "/").last ?? "")
                #expect(report.text.contains("\(place) at localhost:"))
                #expect(!report.text.contains(PostgresCluster.password))
                #expect(report.findings.contains { $0.check == "PostgreSQL" && $0.verdict == .good })
            }
        }
    }

    @Test func `doctor reports an empty database`() async throws {
        try await Self.with { apple, directory, database in
            let report = try await Self.findings(apple, directory, ["DATABASE_URL": database])
            #expect(report.isHealthy, "\(report.text)")
            #expect(report.findings.contains { $0.check == "database" && $0.verdict == .note })
            // It has created nothing.
            let again = try await Self.findings(apple, directory, ["DATABASE_URL": database])
            #expect(again.findings == report.findings)
        }
    }

    @Test func `doctor finds errors of the stored data`() async throws {
        try await Self.with { apple, directory, database in
            try await StoredAccounts.with(url: database, keys: ResealingTests.ring("b")) { store in
                try await StoredAccounts.signIn(["0.a.1"], clientID: "com.example.web", in: store)
                try await StoredAccounts.signIn(["0.a.2"], code: "code", in: store)
            }
            let report = try await Self.findings(apple, directory, ["DATABASE_URL": database])
            #expect(DoctorTests.wrong(report) == ["database", "sealing keys"], "\(report.text)")
        }
    }

    @Test func `doctor names the sealing key that the keys that sign tokens need`() async throws {
        let database = try await Self.cluster.value.makeDatabase()
        let good = try await TokenSigningKeysCheckTests.findings("a", url: database)
        #expect(good.map(\.verdict) == [.good])
        let findings = try await TokenSigningKeysCheckTests.findings("b", url: database)
        #expect(findings.map(\.text) == ["keys that sign tokens are sealed by a, which is not configured"])
    }

    @Test func `doctor finds a database that cannot be reached, and a password that is wrong`() async throws {
        try await Self.with { apple, directory, database in
            for url in [
                database.replacing(PostgresCluster.password, with: "wr0ng-one"),
                "postgres://siwa:wr0ng-one@127.0.0.1:9/siwa",
            ] {
                let report = try await Self.findings(apple, directory, ["DATABASE_URL": url])
                #expect(DoctorTests.wrong(report) == ["database"], "\(report.text)")
                #expect(!report.text.contains("wr0ng-one"))
            }
        }
    }

    @Test func `reseal runs while the service runs`() async throws {
        try await Self.with { apple, directory, database in
            try await StoredAccounts.with(url: database, keys: ResealingTests.ring("a")) { store in
                try await StoredAccounts.signIn((0..<300).map { "0.\($0).1" }, code: "code", in: store)
                let environment = try apple.environment(
                    directory,
                    [
                        "DATABASE_URL": database,
                        "SIWA_SEALING_KEYS":
                            "b=\(SealingSettingsTests.second),a=\(SealingSettingsTests.first)",
                    ])
                try await CommandProcess.run(["reseal"], environment, in: directory).checked()
                #expect(Set(try await ResealingTests.names(store)) == ["b"])
            }
        }
    }

    @Test(arguments: [["reseal"], ["transfer", "prepare", "out", "--to", RunningApple.otherTeam]])
    func `a command that finds no tables says so and creates none`(arguments: [String]) async throws {
        try await Self.with { apple, directory, database in
            let environment = try apple.environment(directory, ["DATABASE_URL": database])
            for _ in 0..<2 {
                let command = try await CommandProcess.run(arguments, environment, in: directory)
                #expect(command.status == 1)
                #expect(command.output.contains(" has no tables of siwa"))
                #expect(!command.output.contains(PostgresCluster.password))
            }
        }
    }

    @Test func `accounts move between teams while the service runs`() async throws {
        let database = try await PostgresCluster.shared().makeDatabase()
        try await TransferTests.with(recipient: database) { world in
            try await StoredAccounts.with(url: database) { _ in
                #expect(try await world.prepare().prepared == 5)
                _ = try world.apple.state.transfer(RunningApple.clientID, to: RunningApple.otherTeam)
                #expect(try await world.ask() == TransferApplication.Asked(total: 5, learned: 5))
                #expect(try await world.move() == TransferApplication.Moved(made: 5))
                #expect(try await world.move() == TransferApplication.Moved(alreadyDone: 5))
            }
        }
    }
}

/// Log lines and metrics when the database fails transactions.
@Suite struct StorageFailuresTests {
    @Test func `each cause is logged at once, with the database's words, and then once a minute`() throws {
        let log = HealthMonitorTests.Log()
        let observation = ProcessObservation(level: .notice) { log.add($0) }
        let clock = ManualClock()
        let failures = StorageFailures(
            logger: observation.logger, factory: observation.registry,
            now: { Moment(milliseconds: clock.millisecondsSince1970) })
        let full = StorageError(.full, detail: "PostgreSQL 53100: could not extend file a insert_event")
        for _ in 0..<60_000 {
            failures.record(full)
            clock.advance(by: .milliseconds(1))
        }
        failures.record(
            StorageError(.full, detail: "PostgreSQL 53100: could not extend file b insert_ticket"))
        failures.record(StorageError(.busy, detail: "PostgreSQL 55P03: lock_subjects"))
        observation.sink.flush()
        #expect(log.lines.count == 3, "\(log.lines)")
        #expect(log.lines[0].contains("cause=full") && log.lines[0].contains("PostgreSQL 53100"))
        #expect(log.lines[1].contains("left_out=59999"))
        #expect(log.lines[2].contains("55P03"))
    }

    @Test func `counts every cause that a transaction can fail with`() {
        let ends: Set<StorageError.Code> = [.schemaTooNew, .migrationFailed, .valueRefused]
        #expect(Set(StorageFailures.causes) == Set(StorageError.Code.allCases).subtracting(ends))
    }

    @Test func `counts the database's codes, and those past a bound together`() throws {
        let observation = ProcessObservation(level: .critical) { _ in }
        let failures = StorageFailures(
            logger: observation.logger, factory: observation.registry, now: { Moment(milliseconds: 0) })
        // A rate finds the first failure only if there was a sample before it.
        let begun = String(decoding: observation.registry.text(), as: UTF8.self)
        for code in StorageFailures.usualCodes {
            #expect(begun.contains("siwa_storage_errors_total{code=\"\(code)\"} 0\n"))
        }
        failures.record(StorageError(.full, detail: "", databaseCode: "53100"))
        failures.record(StorageError(.full, detail: "", databaseCode: "53100"))
        failures.record(StorageError(.unavailable, detail: ""))
        // The fault of a value is none of the database.
        failures.record(StorageError(.valueRefused, detail: "", databaseCode: "23505"))
        for number in 0..<100 {
            failures.record(StorageError(.unavailable, detail: "", databaseCode: "X\(number)"))
        }
        let text = String(decoding: observation.registry.text(), as: UTF8.self)
        #expect(text.contains("siwa_storage_errors_total{code=\"53100\"} 2\n"))
        #expect(text.contains("siwa_storage_errors_total{code=\"none\"} 1\n"))
        #expect(!text.contains("23505"))
        // 32 with a name, of which those of the runbook are taken from the start.
        #expect(text.contains("siwa_storage_errors_total{code=\"other\"} 76\n"))
    }
}
