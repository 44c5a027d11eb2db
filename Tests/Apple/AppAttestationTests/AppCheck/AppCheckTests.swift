import Testing

@testable import AppAttestation

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
