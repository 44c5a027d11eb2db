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
