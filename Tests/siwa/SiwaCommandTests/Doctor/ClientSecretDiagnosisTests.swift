import AppAttestation
import AppleIDClient
import TestSupport
import Testing

@testable import Composition

@Suite struct ClientSecretDiagnosisTests {
    typealias Outcome = ClientSecretTrial.Outcome

    /// The verdicts and texts for keys (rows) tried with the client IDs app and web (columns).
    func findings(_ outcomes: [String: [Outcome]], skew: Int64? = 0) -> [Finding] {
        let trials = outcomes.sorted { $0.key < $1.key }.flatMap { keyID, outcomes in
            zip(["app", "web"], outcomes).map { clientID, outcome in
                ClientSecretTrial(team: "TEAM", keyID: keyID, clientID: clientID, outcome: outcome)
            }
        }
        return ClientSecretDiagnosis(trials: trials, skew: skew).findings
    }

    @Test func `every accepted client ID is good`() {
        #expect(findings(["K1": [.accepted, .accepted]]).map(\.verdict) == [.good, .good])
    }

    @Test func `when one client ID is refused, the cause is the client ID`() {
        let findings = findings(["K1": [.accepted, .refused]])
        #expect(findings.map(\.verdict) == [.good, .wrong])
        #expect(findings[1].text.hasPrefix("web is refused"))
    }

    @Test func `when one key is always refused, the cause is the key`() {
        let findings = findings(["K1": [.accepted, .accepted], "K2": [.refused, .refused]])
        #expect(findings.map(\.verdict) == [.good, .good, .wrong])
        #expect(findings[2].text.hasPrefix("key K2"))
    }

    @Test func `keys of two primary App IDs are accepted for their own client IDs`() {
        let findings = findings(["K1": [.accepted, .refused], "K2": [.refused, .accepted]])
        #expect(findings.map(\.verdict) == [.good, .good])
    }

    @Test func `when everything is refused and the clock is wrong, the cause is the clock`() {
        for skew in [-3600, 3600, 50] as [Int64] {
            let findings = findings(["K1": [.refused, .refused]], skew: skew)
            #expect(findings.count == 1)
            #expect(findings[0].text.contains("clock"))
        }
    }

    @Test
    func `when everything is refused and the clock is right, the causes are listed, the likeliest first`() {
        let one = findings(["K1": [.refused, .refused]])
        #expect(one.map(\.verdict) == [.wrong])
        #expect(one[0].advice?.contains("1. The key was revoked") == true)
        let two = findings(["K1": [.refused, .refused], "K2": [.refused, .refused]])
        #expect(two[0].advice?.contains("1. The team ID is not TEAM") == true)
        #expect(findings(["K1": [.refused]])[0].advice?.contains("4. The client ID is misspelled") == true)
    }

    @Test func `an unauthorized client ID is reported`() {
        let findings = findings(["K1": [.accepted, .unauthorized]])
        #expect(findings.map(\.verdict) == [.good, .wrong])
        #expect(findings[1].text.contains("unauthorized_client"))
    }

    @Test func `without a response the check is skipped`() {
        #expect(findings(["K1": [.accepted, .unanswered(.timedOut)]]).map(\.verdict) == [.skipped])
    }

    @Test(arguments: [
        (AppleCallError(.rejected, appleError: .invalidGrant), Outcome.accepted),
        (AppleCallError(.rejected, appleError: .invalidClient), .refused),
        (AppleCallError(.rejected, appleError: .unauthorizedClient), .unauthorized),
        (AppleCallError(.rejected, appleError: .invalidRequest), .accepted),
        (AppleCallError(.unreachable), .unanswered(.unreachable)),
        (AppleCallError(.responseUnusable), .unanswered(.responseUnusable)),
    ])
    func `Apple's response to a bogus code shows whether it accepted the secret`(
        error: AppleCallError, outcome: Outcome
    ) { #expect(ClientSecretTrial.outcome(of: error) == outcome) }

    @Test func `the fake Apple knows the code of a trial`() {
        // The fake world hides such requests, which Apple refuses as it should.
        #expect(ClientSecretTrial.bogusCode.hasPrefix("siwa-doctor"))
    }
}

@Suite struct ServicesIDTrialTests {
    static func verdict(_ status: Int?, _ text: String = "") -> Finding.Verdict {
        ServicesIDTrial(
            clientID: "com.example.web", returnURL: "https://signin.example.com/v1/web/callback",
            page: status.map { ServicesIDTrial.Page(status: $0, text: text) }
        ).finding.verdict
    }

    @Test func `a page that asks for an account is good`() {
        #expect(Self.verdict(200, "<title>Sign in to Apple Account</title>") == .good)
        #expect(Self.verdict(302) == .good)
    }

    @Test(arguments: [400, 403], ["invalid_client", "invalid_request", "unauthorized_client"])
    func `an error that Apple names is wrong`(status: Int, error: String) {
        #expect(Self.verdict(status, "<p>\(error)</p>") == .wrong)
        #expect(Self.verdict(status, #"{"error": "\#(error)"}"#) == .wrong)
    }

    /// An unknown response must not make an operator change a working configuration.
    @Test func `any other answer is a note`() {
        #expect(Self.verdict(nil) == .note)
        #expect(Self.verdict(503) == .note)
        #expect(Self.verdict(403, "Forbidden by a proxy") == .note)
        #expect(Self.verdict(200, "const errors = ['invalid_client']") == .note)
    }
}

@Suite(.timeLimit(.hung)) struct AppCheckHoursCheckTests {
    private static let target = AppCheckTarget.app(bundleID: "com.example.app")
    private static let midnight: Int64 = 20_000 * 86_400
    /// In the middle of the day.
    private static let now = midnight + 43_200

    private static func findings(
        _ mode: AppCheckMode = .monitored, _ tallies: [(hour: Int64, tally: AppCheckTally)]
    ) throws -> [Finding] {
        let appID = try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app"))
        let policy = AppCheckPolicy(
            target: target, appID: appID, platform: .iOS, mode: mode, environment: .production,
            firstAttestingVersion: nil)
        return AppCheckHoursCheck(
            policies: AppCheckPolicies([policy]),
            hours: tallies.map { AppCheckHour(target: target, hour: $0.hour, tally: $0.tally) }, now: now
        ).findings
    }

    @Test func `warns when enforced mode would have refused more than 1% of yesterday`() throws {
        let findings = try Self.findings(
            .monitored,
            [
                (Self.midnight - 3600, AppCheckTally(verified: 989, outdatedApp: 6)),
                (Self.midnight - 86_400, AppCheckTally(unknownOrigin: 3, invalid: 2)),
            ])
        #expect(findings.map(\.verdict) == [.note])
        #expect(
            findings.first?.text
                == "com.example.app: enforced mode would have refused 11 of yesterday's 1000 requests, more than 1%"
        )
        #expect(findings.first?.advice?.contains("6 from outdated apps, 3 of unknown origin, 2 with") == true)
    }

    @Test func `exactly 1% is no warning`() throws {
        let findings = try Self.findings(
            .monitored, [(Self.midnight - 3600, AppCheckTally(verified: 990, invalid: 10))])
        #expect(findings.map(\.verdict) == [.good])
        #expect(findings.first?.advice == nil)
    }

    @Test func `says when enforcing is safe`() throws {
        let findings = try Self.findings(.monitored, [(Self.midnight - 1, AppCheckTally(verified: 4))])
        #expect(findings.map(\.verdict) == [.good])
        #expect(findings.first?.text.contains("enforcing is safe") == true)
    }

    @Test func `looks at yesterday only`() throws {
        let findings = try Self.findings(
            .monitored,
            [(Self.midnight, AppCheckTally(invalid: 5)), (Self.midnight - 86_401, AppCheckTally(invalid: 5))])
        #expect(findings.map(\.verdict) == [.note])
        #expect(findings.first?.text == "com.example.app: no request yesterday")
    }

    @Test(arguments: [AppCheckMode.off, .enforced])
    func `has nothing to say about other modes`(mode: AppCheckMode) throws {
        #expect(try Self.findings(mode, [(Self.midnight - 1, AppCheckTally(invalid: 5))]).isEmpty)
    }

    @Test func `doctor reads the hours of the database`() async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let url = "sqlite://\(directory)/siwa.sqlite"
            try await StoredAccounts.with(url: url) { store in
                try await store.addAppCheckHours([
                    AppCheckHour(
                        target: Self.target, hour: Self.midnight - 7200,
                        tally: AppCheckTally(unknownOrigin: 1)),
                    AppCheckHour(
                        target: .oauthClient(id: "phone"), hour: Self.midnight - 7200,
                        tally: AppCheckTally(unknownOrigin: 1)),
                ])
            }
            let settings = try await SettingsReaderTests.read(
                ["DATABASE_URL": url], file: AppCheckSettingsTests.file)
            let findings = await DatabaseCheck(settings: settings, secondsSince1970: { Self.now }).run()
                .filter { $0.check == "app check" }
            // The other bundle ID is off, and the client is enforced.
            #expect(findings.map(\.verdict) == [.note])
            #expect(findings.first?.text.contains("refused 1 of yesterday's 1 requests") == true)
        }
    }
}
