import AppleAccounts
import AppleEmulator
import AppleIDClient
import Foundation
import TestSupport
import Testing

@testable import Composition
@testable import siwa

/// Both steps of a transfer with the fake Apple, from one database to another.
@Suite(.timeLimit(.hung)) struct TransferTests {
    /// A fake Apple with users, and the databases of the two teams.
    struct World: Sendable {
        let apple: RunningApple
        let directory: String
        let subjects: [String]
        /// The recipient's database, if it is not a file.
        var recipientURL: String?

        var sender: String { "\(directory)/sender" }
        var recipient: String { "\(directory)/recipient" }
        var file: String { "\(directory)/transfer.jsonl" }

        func settings(team: String, _ directory: String) async throws -> ServiceSettings {
            var changes: [String: String?] = ["APPLE_TEAM_ID": team, "SIWA_PUBLIC_URL": nil]
            if let recipientURL, directory == recipient { changes["DATABASE_URL"] = recipientURL }
            return try await SettingsReader.read(environment: apple.environment(directory, changes))
        }

        func prepare(isDryRun: Bool = false) async throws -> TransferPreparation.Outcome {
            let settings = try await settings(team: RunningApple.team, sender)
            let app = try #require(settings.deployment.apps.first)
            let recipientTeam = try #require(TeamID(RunningApple.otherTeam))
            let inspection = try settings.database.inspection()
            let outcome = try await settings.withAppleClient { apple in
                try await TransferPreparation(
                    app: app, recipientTeam: recipientTeam, output: file, apple: apple, perSecond: 1000,
                    clock: ContinuousClock()
                ) { last in
                    try await inspection.accounts(
                        team: app.team, clientID: app.primaryClientID, after: last, limit: 2)
                }.run(isDryRun: isDryRun, begin: { _ in }, progress: {})
            }
            await inspection.close()
            return outcome
        }

        func application() async throws -> TransferApplication {
            try TransferApplication(
                path: file,
                deployment: try await settings(team: RunningApple.otherTeam, recipient).deployment,
                perSecond: 1000, clock: ContinuousClock(), now: StoredAccounts.now)
        }

        func ask(isDryRun: Bool = false) async throws -> TransferApplication.Asked {
            let settings = try await settings(team: RunningApple.otherTeam, recipient)
            let application = try await application()
            return try await settings.withAppleClient { apple in
                try await application.ask(apple, isDryRun: isDryRun, begin: { _ in }, progress: {})
            }
        }

        func move() async throws -> TransferApplication.Moved {
            let application = try await application()
            let url = recipientURL ?? "sqlite://\(recipient)/siwa.sqlite"
            return try await StoredAccounts.with(url: url) { store in
                try await application.move(in: store, progress: { _ in })
            }
        }
    }

    static func with(
        users: Int = 5, recipient: String? = nil, _ body: @Sendable (World) async throws -> Void
    ) async throws {
        try await RunningApple.with { apple in
            // The other team has a different key with the same ID.
            try apple.state.addClientKey(
                ClientKey(teamID: RunningApple.otherTeam, keyID: "K1L2M3N4O5", pem: apple.pem))
            let subjects = try (0..<users).map { _ in try apple.state.makeUser(UserRecipe()).subject }
            try await SigningKeySettingsTests.withDirectory([:]) { directory in
                let world = World(
                    apple: apple, directory: directory, subjects: subjects, recipientURL: recipient)
                for path in [world.sender, world.recipient] {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                }
                try await StoredAccounts.with(world.sender) { store in
                    try await StoredAccounts.signIn(subjects, in: store)
                }
                try await body(world)
            }
        }
    }

    @Test func `transfers every account with its ID`() async throws {
        try await Self.with { world in
            let prepared = try await world.prepare()
            #expect(prepared == TransferPreparation.Outcome(total: 5, prepared: 5))
            _ = try world.apple.state.transfer(RunningApple.clientID, to: RunningApple.otherTeam)
            #expect(try await world.ask() == TransferApplication.Asked(total: 5, learned: 5))
            #expect(try await world.move() == TransferApplication.Moved(made: 5))
            let team = try #require(TeamID(RunningApple.team))
            let otherTeam = try #require(TeamID(RunningApple.otherTeam))
            for subject in world.subjects {
                let key = SubjectKey(team: team, subject: try #require(AppleSubject(subject)))
                let old = try await StoredAccounts.with(world.sender) { try await $0.account(key) }
                let identity = try world.apple.state.user(subject).identity(for: RunningApple.otherTeam)
                let newKey = SubjectKey(
                    team: otherTeam, subject: try #require(AppleSubject(identity.subject)))
                let new = try await StoredAccounts.with(world.recipient) { try await $0.account(newKey) }
                #expect(new?.id == old?.id)
                #expect(identity.subject != subject)
            }
            // A second run sends no request and changes nothing.
            #expect(try await world.ask() == TransferApplication.Asked(total: 5, alreadyKnown: 5))
            #expect(try await world.move() == TransferApplication.Moved(alreadyDone: 5))
        }
    }

    @Test func `preparation can be stopped and run again`() async throws {
        try await Self.with { world in
            _ = try await world.prepare()
            // As if it had been killed in the middle of the fourth line.
            let content = try String(contentsOfFile: world.file, encoding: .utf8)
            let lines = content.split(separator: "\n")
            let torn = lines[..<3].joined(separator: "\n") + "\n" + lines[3].prefix(20)
            try torn.write(toFile: world.file, atomically: true, encoding: .utf8)
            let outcome = try await world.prepare()
            #expect(outcome == TransferPreparation.Outcome(total: 5, alreadyPrepared: 3, prepared: 2))
            #expect(try LineFile.read(world.file).count == 5)
        }
    }

    @Test func `refused users are listed, and tried again in the next run`() async throws {
        try await Self.with { world in
            try world.apple.state.setMigrationFailing(true, of: world.subjects[2])
            let outcome = try await world.prepare()
            #expect(outcome.prepared == 4)
            #expect(outcome.failures.map(\.cause) == ["invalid_request"])
            let report = TransferReport(outcome, file: world.file, isDryRun: false)
            #expect(!report.isComplete)
            #expect(report.text.contains("1 invalid_request"))
            #expect(try LineFile.read("\(world.file).failures").count == 1)
            try world.apple.state.setMigrationFailing(false, of: world.subjects[2])
            let again = try await world.prepare()
            #expect(again == TransferPreparation.Outcome(total: 5, alreadyPrepared: 4, prepared: 1))
            #expect(TransferReport(again, file: world.file, isDryRun: false).isComplete)
            #expect(!FileManager.default.fileExists(atPath: "\(world.file).failures"))
        }
    }

    @Test func `users that fail at the recipient are tried again, and the others are moved`() async throws {
        try await Self.with { world in
            _ = try await world.prepare()
            _ = try world.apple.state.transfer(RunningApple.clientID, to: RunningApple.otherTeam)
            try world.apple.state.setMigrationFailing(true, of: world.subjects[0])
            let asked = try await world.ask()
            #expect(asked.learned == 4)
            #expect(asked.failures.count == 1)
            #expect(try await world.move() == TransferApplication.Moved(made: 4))
            try world.apple.state.setMigrationFailing(false, of: world.subjects[0])
            #expect(try await world.ask() == TransferApplication.Asked(total: 5, alreadyKnown: 4, learned: 1))
            #expect(try await world.move() == TransferApplication.Moved(made: 1, alreadyDone: 4))
        }
    }

    @Test func `a refused client secret stops the run at once`() async throws {
        try await Self.with { world in
            try world.apple.state.removeClientKey("K1L2M3N4O5", of: RunningApple.team)
            let outcome = try await world.prepare()
            #expect(outcome.stopped == AppleCallError(.rejected, appleError: .invalidClient))
            #expect(outcome.prepared == 0)
            #expect(TransferReport(outcome, file: world.file, isDryRun: false).text.contains("siwa doctor"))
        }
    }

    @Test func `a dry run sends one request and writes nothing`() async throws {
        try await Self.with { world in
            #expect(try await world.prepare(isDryRun: true).prepared == 1)
            #expect(!FileManager.default.fileExists(atPath: world.file))
            _ = try await world.prepare()
            _ = try world.apple.state.transfer(RunningApple.clientID, to: RunningApple.otherTeam)
            #expect(try await world.ask(isDryRun: true).learned == 1)
            #expect(!FileManager.default.fileExists(atPath: "\(world.file).results"))
        }
    }

    @Test func `while the service has the database open, it says so and keeps the results`() async throws {
        try await Self.with { world in
            _ = try await world.prepare()
            _ = try world.apple.state.transfer(RunningApple.clientID, to: RunningApple.otherTeam)
            _ = try await world.ask()
            let error = await #expect(throws: StorageError.self) {
                try await StoredAccounts.with(world.recipient) { _ in _ = try await world.move() }
            }
            #expect(error?.code == .busy)
            #expect(try await world.move() == TransferApplication.Moved(made: 5))
        }
    }

    @Test func `a file of another transfer is refused before any request`() async throws {
        try await Self.with { world in
            _ = try await world.prepare()
            let content = try String(contentsOfFile: world.file, encoding: .utf8)
            for (old, new) in [
                (RunningApple.otherTeam, "ZZZZZZZZZZ"), ("com.example.app", "com.example.zzz"),
            ] {
                try content.replacing(old, with: new).write(
                    toFile: world.file, atomically: true, encoding: .utf8)
                await #expect(throws: LineFile.Unusable.self) { try await world.prepare() }
                await #expect(throws: LineFile.Unusable.self) { _ = try await world.application() }
            }
        }
    }
}

@Suite struct RetryPolicyTests {
    static let lost = AppleCallError(.connectionLost)
    static let refused = AppleCallError(.rejected, appleError: .invalidRequest)

    @Test func `retries several times with growing delays`() {
        var policy = RetryPolicy()
        #expect(policy.decide(on: Self.lost, attempt: 1) == .retry(after: .seconds(1)))
        #expect(policy.decide(on: Self.lost, attempt: 2) == .retry(after: .seconds(2)))
        #expect(policy.decide(on: Self.lost, attempt: 3) == .retry(after: .seconds(4)))
        #expect(policy.decide(on: Self.lost, attempt: 4) == .fail)
    }

    @Test func `waits as long as Apple asks, but at most a minute`() {
        var policy = RetryPolicy()
        let slow = AppleCallError(.throttled, retryAfter: .seconds(20))
        #expect(policy.decide(on: slow, attempt: 1) == .retry(after: .seconds(20)))
        let slower = AppleCallError(.throttled, retryAfter: .seconds(3600))
        #expect(policy.decide(on: slower, attempt: 1) == .retry(after: .seconds(60)))
    }

    @Test func `a refused call fails at once, and the others continue`() {
        var policy = RetryPolicy()
        for _ in 0..<100 { #expect(policy.decide(on: Self.refused, attempt: 1) == .fail) }
    }

    @Test(arguments: [
        AppleCallError(.rejected, appleError: .invalidClient), AppleCallError(.noSigningKey),
        AppleCallError(.signingFailed),
    ])
    func `an error that affects all calls stops the run`(error: AppleCallError) {
        var policy = RetryPolicy()
        #expect(policy.decide(on: error, attempt: 1) == .stop)
    }

    @Test func `many calls without a response stop the run, unless one succeeds`() {
        var policy = RetryPolicy()
        for _ in 1..<RetryPolicy.patience { #expect(policy.decide(on: Self.lost, attempt: 4) == .fail) }
        policy.succeeded()
        for _ in 1..<RetryPolicy.patience { #expect(policy.decide(on: Self.lost, attempt: 4) == .fail) }
        #expect(policy.decide(on: Self.lost, attempt: 4) == .stop)
    }
}
