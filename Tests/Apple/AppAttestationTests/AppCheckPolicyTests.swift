import Testing

@testable import AppAttestation

@Suite struct AppCheckPolicyTests {
    private static let broken = AppCheckCause(AppAttestationError(.counterNotIncreased))

    @Test func `enforced mode lets a proof that holds pass`() throws {
        let decision = try #require(
            try AppCheckPolicy.sample(.enforced).decision(on: .holds, appVersion: nil))
        #expect(decision == AppCheckDecision(kind: .verified, refusal: nil))
    }

    @Test func `enforced mode refuses a proof that does not hold with its cause`() throws {
        let decision = try #require(
            try AppCheckPolicy.sample(.enforced).decision(on: .doesNotHold(Self.broken), appVersion: "9"))
        #expect(decision.kind == .invalid)
        #expect(decision.refusal?.code == .attestationInvalid)
        #expect(decision.refusal?.cause == Self.broken)
    }

    @Test(
        arguments: [
            ("4.1", AppCheckKind.outdatedApp, AppCheckCause.appOutdated),
            ("4.1.99", .outdatedApp, .appOutdated),
            ("4.2", .unknownOrigin, .proofMissing),
            ("4.10", .unknownOrigin, .proofMissing),
            ("", .unknownOrigin, .proofMissing),
            ("4.1-beta", .unknownOrigin, .proofMissing),
            (nil, .unknownOrigin, .proofMissing),
        ] as [(String?, AppCheckKind, AppCheckCause)])
    func `enforced mode refuses every request without a proof, whatever version it says`(
        version: String?, kind: AppCheckKind, cause: AppCheckCause
    ) throws {
        let policy = try AppCheckPolicy.sample(.enforced, firstAttestingVersion: "4.2")
        let decision = try #require(policy.decision(on: .absent, appVersion: version))
        #expect(decision.kind == kind)
        #expect(decision.refusal?.code == .attestationRequired)
        #expect(decision.refusal?.cause == cause)
    }

    @Test func `without a first version no app is outdated`() throws {
        let decision = try AppCheckPolicy.sample(.monitored).decision(on: .absent, appVersion: "0.1")
        #expect(decision?.kind == .unknownOrigin)
    }

    @Test(arguments: [AppCheckProof.absent, .holds, .doesNotHold(Self.broken)])
    func `monitored mode counts the same kind and refuses nothing`(proof: AppCheckProof) throws {
        let monitored = try AppCheckPolicy.sample(.monitored, firstAttestingVersion: "4.2")
        let enforced = try AppCheckPolicy.sample(.enforced, firstAttestingVersion: "4.2")
        for version in ["4.1", "5", nil] {
            let decision = try #require(monitored.decision(on: proof, appVersion: version))
            #expect(decision.kind == enforced.decision(on: proof, appVersion: version)?.kind)
            #expect(decision.refusal == nil)
        }
    }

    @Test(arguments: [AppCheckProof.absent, .holds, .doesNotHold(Self.broken)])
    func `off judges nothing`(proof: AppCheckProof) throws {
        #expect(try AppCheckPolicy.sample(.off).decision(on: proof, appVersion: nil) == nil)
    }

    @Test func `finds the policies of a bundle ID and of an OAuth client with the same name`() throws {
        let app = try AppCheckPolicy.sample(.enforced)
        let client = try AppCheckPolicy.sample(.monitored, target: .oauthClient(id: "com.example.app"))
        let policies = AppCheckPolicies([app, client])
        #expect(policies.ofApp("com.example.app") == app)
        #expect(policies.ofOAuthClient("com.example.app") == client)
        #expect(policies.ofApp("com.example.App") == nil)
    }

    @Test(arguments: AppAttestationError.Code.allCases)
    func `advises a new key only where a new key would pass`(code: AppAttestationError.Code) {
        let cause = AppCheckCause(AppAttestationError(code))
        #expect(cause.code == code.rawValue)
        #expect(
            cause.canReAttest
                == [.certificateExpired, .environmentMismatch, .nonceMismatch].contains(code))
    }
}

extension AppCheckPolicy {
    static func sample(
        _ mode: AppCheckMode, target: AppCheckTarget = .app(bundleID: "com.example.app"),
        firstAttestingVersion: String? = nil
    ) throws -> AppCheckPolicy {
        AppCheckPolicy(
            target: target,
            appID: try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app")), platform: .iOS,
            mode: mode, environment: .production,
            firstAttestingVersion: try firstAttestingVersion.map { try #require(AppVersion($0)) })
    }
}

@Suite struct AppVersionTests {
    @Test(arguments: [
        ("4.9", "4.10"), ("4", "4.0.1"), ("0", "0.0.0.1"), ("09", "10"), ("1.2.3", "1.2.4"),
        ("1.999999999", "2"), ("4.2.9.9", "4.3"),
    ])
    func `compares each part as a number`(older: String, newer: String) throws {
        let (older, newer) = (try #require(AppVersion(older)), try #require(AppVersion(newer)))
        #expect(older < newer)
        #expect(!(newer < older))
        #expect(older != newer)
    }

    @Test(arguments: [("4.2", "4.2.0"), ("4", "4.0.0.0"), ("0", "0.0"), ("1.02", "1.2")])
    func `treats a missing part as 0`(one: String, other: String) throws {
        let (one, other) = (try #require(AppVersion(one)), try #require(AppVersion(other)))
        #expect(one == other)
        #expect(!(one < other) && !(other < one))
    }

    @Test(arguments: [
        "", ".", "4.", ".4", "4..2", "4.2-beta", "v4", " 4", "4 ", "+4", "-4", "4.2.1.0.0", "1234567890",
        "4,2", "٤", "4\u{0}", "0x4", "4e2", String(repeating: "1.", count: 10_000) + "1",
    ])
    func `refuses any other text`(text: String) { #expect(AppVersion(text) == nil) }

    @Test func `accepts the longest version`() throws {
        let longest = "999999999.999999999.999999999.999999999"
        #expect(try #require(AppVersion(longest)).description == longest)
    }

    @Test func `is shown without zeros at its end`() {
        #expect(AppVersion("4.2.0")?.description == "4.2")
        #expect(AppVersion("0.0")?.description == "0")
    }
}

@Suite struct AppCheckTests {
    private static let broken = AppCheckProof.doesNotHold(
        AppCheckCause(AppAttestationError(.signatureInvalid)))

    @Test func `counts every judged request, and throws what enforced mode refuses`() throws {
        let check = AppCheck(AppCheckPolicies([try AppCheckPolicy.sample(.enforced)]))
        let policy = try #require(check.policies.all.first)
        try check.judge(.holds, by: policy, appVersion: nil, at: 0)
        #expect(throws: AppCheckRefusal(.attestationRequired, cause: .proofMissing)) {
            try check.judge(.absent, by: policy, appVersion: nil, at: 0)
        }
        #expect(throws: AppCheckRefusal(.attestationInvalid, cause: .proofMissing)) {
            try check.judge(Self.broken, by: policy, appVersion: nil, at: 0)
        }
        #expect(
            check.counts.totals(of: policy.target)
                == AppCheckTally(verified: 1, unknownOrigin: 1, invalid: 1))
    }

    @Test func `monitored mode counts and throws nothing`() throws {
        let check = AppCheck(
            AppCheckPolicies([try AppCheckPolicy.sample(.monitored, firstAttestingVersion: "2")]))
        let policy = try #require(check.policies.all.first)
        try check.judge(.absent, by: policy, appVersion: "1.9", at: 0)
        try check.judge(.absent, by: policy, appVersion: "2", at: 0)
        try check.judge(Self.broken, by: policy, appVersion: nil, at: 0)
        #expect(
            check.counts.totals(of: policy.target)
                == AppCheckTally(outdatedApp: 1, unknownOrigin: 1, invalid: 1))
    }

    @Test func `nothing is counted when the mode is off, and without a policy`() throws {
        let check = AppCheck(AppCheckPolicies([try AppCheckPolicy.sample(.off)]))
        let policy = try #require(check.policies.all.first)
        try check.judge(Self.broken, by: policy, appVersion: nil, at: 0)
        try check.judge(Self.broken, by: nil, appVersion: nil, at: 0)
        #expect(check.counts.take().isEmpty)
    }

    @Test func `finds the bundle IDs of an app, and the clients that belong to them`() throws {
        let app = try AppCheckPolicy.sample(.off)
        let client = try AppCheckPolicy.sample(.monitored, target: .oauthClient(id: "phone"))
        let policies = AppCheckPolicies([app, client])
        #expect(policies.of(bundleIDs: ["com.example.app", "com.example.web"]) == [app, client])
        #expect(policies.of(bundleIDs: ["com.example.web"]).isEmpty)
    }
}

@Suite struct AppCheckCountsTests {
    private let app = AppCheckTarget.app(bundleID: "com.example.app")
    private let client = AppCheckTarget.oauthClient(id: "ios")

    private func counts() throws -> AppCheckCounts {
        AppCheckCounts(
            of: AppCheckPolicies([
                try AppCheckPolicy.sample(.monitored), try AppCheckPolicy.sample(.enforced, target: client),
            ]))
    }

    @Test func `counts by target, hour and kind, and gives each count away once`() throws {
        let counts = try counts()
        counts.add(.verified, for: app, at: 7199)
        counts.add(.verified, for: app, at: 7200)
        counts.add(.invalid, for: app, at: 10_799)
        counts.add(.outdatedApp, for: client, at: 7200)
        #expect(
            counts.take() == [
                AppCheckHour(target: app, hour: 3600, tally: AppCheckTally(verified: 1)),
                AppCheckHour(target: app, hour: 7200, tally: AppCheckTally(verified: 1, invalid: 1)),
                AppCheckHour(target: client, hour: 7200, tally: AppCheckTally(outdatedApp: 1)),
            ])
        #expect(counts.take().isEmpty)
        #expect(counts.totals(of: app) == AppCheckTally(verified: 2, invalid: 1))
    }

    @Test func `takes back what was not stored, and adds it to what came meanwhile`() throws {
        let counts = try counts()
        counts.add(.unknownOrigin, for: app, at: 0)
        let taken = counts.take()
        counts.add(.unknownOrigin, for: app, at: 1)
        counts.putBack(taken)
        #expect(counts.take() == [AppCheckHour(target: app, hour: 0, tally: AppCheckTally(unknownOrigin: 2))])
        #expect(counts.totals(of: app) == AppCheckTally(unknownOrigin: 2))
    }

    @Test func `counts no target that is not configured`() throws {
        let counts = try counts()
        for number in 0..<10_000 { counts.add(.invalid, for: .app(bundleID: "com.\(number)"), at: 0) }
        #expect(counts.take().isEmpty)
    }

    @Test func `keeps 48 hours while nothing is stored, and counts what it drops`() throws {
        let counts = try counts()
        for hour in 0..<Int64(AppCheckCounts.mostHours + 3) {
            counts.add(.verified, for: app, at: hour * 3600)
            counts.add(.invalid, for: client, at: hour * 3600)
        }
        #expect(counts.dropped == 6)
        let taken = counts.take()
        #expect(taken.count == 2 * AppCheckCounts.mostHours)
        #expect(taken.map(\.hour).min() == 10_800)
    }

    @Test func `loses nothing when requests are counted while the counts are taken`() async throws {
        let counts = try counts()
        let taken = await withTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2500 { counts.add(.verified, for: self.app, at: 60) }
                    return 0
                }
            }
            group.addTask {
                var sum: Int64 = 0
                for round in 0..<500 {
                    let hours = counts.take()
                    if round.isMultiple(of: 3) {
                        counts.putBack(hours)
                    } else {
                        sum += hours.reduce(0) { $0 + $1.tally.total }
                    }
                }
                return sum
            }
            return await group.reduce(0, +)
        }
        let rest = counts.take().reduce(0) { $0 + $1.tally.total }
        #expect(taken + rest == 10_000)
        #expect(counts.totals(of: app).verified == 10_000)
    }

    @Test func `an hour begins at a multiple of 3600 seconds, also before 1970`() {
        #expect(AppCheckHour.beginning(of: 3599) == 0)
        #expect(AppCheckHour.beginning(of: 3600) == 3600)
        #expect(AppCheckHour.beginning(of: .min) == 0)
    }
}
