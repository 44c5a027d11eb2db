import AppleAccounts
import AppleEmulator
import Foundation
import PostgresCluster
import TestSupport
import Testing

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
                let command = try await CommandProcess.run(["reseal"], environment, in: directory)
                #expect(command.status == 0, "\(command.errorText)")
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
                #expect(command.errorText.contains(" has no tables of siwa"))
                #expect(!command.errorText.contains(PostgresCluster.password))
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
