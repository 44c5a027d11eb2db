import AppleIDClient
import Testing

@testable import siwa

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
    ) {
        #expect(ClientSecretTrial.outcome(of: error) == outcome)
    }

    @Test func `the fake Apple knows the code of a trial`() {
        // The fake world hides such requests, which Apple refuses as it should.
        #expect(ClientSecretTrial.bogusCode.hasPrefix("siwa-doctor"))
    }
}
