import AppAttestation
import TestSupport
import Testing

@testable import siwa

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
            [
                (Self.midnight, AppCheckTally(invalid: 5)),
                (Self.midnight - 86_401, AppCheckTally(invalid: 5)),
            ])
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
