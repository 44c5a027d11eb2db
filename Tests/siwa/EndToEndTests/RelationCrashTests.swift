import AppleEmulator
import StrictJSON
import TestSupport
import Testing

/// The process is killed while it waits for Apple, at every step of an exchange, a check and an erasure. The
/// work is finished after a restart, and Apple never gets more requests than allowed.
@Suite(.serialized) struct RelationCrashTests {
    /// The state of Apple's endpoint when the process was killed.
    enum Moment: CaseIterable {
        case asked, done
    }

    @Test(arguments: Moment.allCases)
    func `an exchange that was cut off ends after a restart`(moment: Moment) async throws {
        try await Relation.with { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            relation.hold(.token, afterItsWork: moment == .done)
            let signedIn = try await relation.signIn(user, at: backend)
            #expect(signedIn.status == 201)
            #expect(signedIn["credential"]?["refresh_token"]?.string == "pending")
            // Apple counts a request before its work.
            let exchanges = moment == .done ? 1 : 0
            try await eventually {
                relation.requests(.token) == 1 && relation.apple.counters.exchanges == exchanges
            }
            await service.kill()
            relation.apple.clearFaults()

            let (again, reader) = try await relation.serve()
            // A response that was lost cannot be requested again; a request that was not executed is
            // repeated.
            let expected = moment == .asked ? "held" : "unavailable"
            try await eventually {
                try await relation.credential(of: user, at: reader)?["refresh_token"]?.string == expected
            }
            let cause = try await relation.credential(of: user, at: reader)?["refresh_token_cause"]?.string
            #expect(cause == (moment == .asked ? nil : "exchange_uncertain"))
            #expect(relation.apple.counters.exchanges == 1)
            #expect(await again.stop() == 0)
        }
    }

    @Test func `a code that was stored and never sent is exchanged after a restart`() async throws {
        try await Relation.with { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            var away = EndpointFault()
            away.cut = .beforeWork
            relation.apple.setFault(away, on: .token)
            #expect(try await relation.signIn(user, at: backend).status == 201)
            await service.kill()
            relation.apple.clearFaults()

            let (again, reader) = try await relation.serve()
            try await eventually {
                let status = try await relation.credential(of: user, at: reader)?["refresh_token"]?.string
                return status == "held" || status == "unavailable"
            }
            #expect(await again.stop() == 0)
        }
    }

    @Test(arguments: Moment.allCases)
    func `a check that was cut off is not repeated before its time, and finds the rejection then`(
        moment: Moment
    ) async throws {
        try await Relation.with(checkingEvery: 4) { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            #expect(try await relation.signIn(user, at: backend).status == 201)
            try await eventually {
                try await relation.credential(of: user, at: backend)?["refresh_token"]?.string == "held"
            }
            relation.hold(.token, afterItsWork: moment == .done)
            let before = relation.requests(.token)
            try await eventually { relation.requests(.token) > before }
            await service.kill()
            relation.apple.clearFaults()
            #expect(relation.requests(.token) == before + 1)

            let (again, reader) = try await relation.serve()
            try await eventually { relation.apple.counters.refreshes >= (moment == .done ? 2 : 1) }
            // There is no notification of a new password. Only the next check finds the revoked token.
            try relation.apple.changePassword(of: user.subject)
            try await eventually {
                try await relation.credential(of: user, at: reader)?["state"]?.string == "revoked"
            }
            let credential = try await relation.credential(of: user, at: reader)
            #expect(credential?["reason"]?.string == "refresh_token_rejected")
            #expect(credential?["source"]?.string == "daily_check")
            #expect(credential?["refresh_token_cause"]?.string == "rejected")
            // Apple counts the requests, and would have throttled them.
            #expect(relation.apple.counters.refreshesThrottled == 0)
            #expect(await again.stop() == 0)
        }
    }

    /// The step of the erasure when the process was killed.
    enum Step: CaseIterable {
        case revocationAsked, revocationDone, proofAsked, proofDone
    }

    @Test(arguments: Step.allCases)
    func `an erasure that was cut off ends with the same report`(step: Step) async throws {
        try await Relation.with { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            let signedIn = try await relation.signIn(user, at: backend)
            let account = try #require(signedIn["account"]?["id"]?.string)
            try await eventually {
                try await relation.credential(of: user, at: backend)?["refresh_token"]?.string == "held"
            }
            let isRevocation = step == .revocationAsked || step == .revocationDone
            let endpoint = isRevocation ? EmulatedEndpoint.revoke : .token
            relation.hold(endpoint, afterItsWork: step == .revocationDone || step == .proofDone)
            let before = relation.requests(endpoint)
            async let cutOff = try? backend.delete("/v1/accounts/\(account)")
            try await eventually { relation.requests(endpoint) > before }
            await service.kill()
            _ = await cutOff
            relation.apple.clearFaults()

            let (again, reader) = try await relation.serve()
            // A repeated request gets the same erasure.
            let repeated = try await reader.delete("/v1/accounts/\(account)")
            #expect(repeated.status == 200 || repeated.status == 202)
            let id = try #require(repeated["erasure"]?["id"]?.string)
            try await eventually {
                try await reader.get("/v1/erasures/\(id)")["erasure"]?["state"]?.string == "completed"
            }
            let report = try await reader.get("/v1/erasures/\(id)")["erasure"]
            #expect(report?["tokens"]?.array?.count == 1)
            #expect(report?["tokens"]?.array?.first?["outcome"]?.string == "revoked_and_proven")
            #expect(report?["user_must_revoke"]?.bool == false)
            #expect(relation.apple.counters.revocations == 1)
            #expect(try await reader.get("/v1/accounts/\(account)").code == "account_not_found")
            #expect(await again.stop() == 0)
        }
    }
}
