import AppleEmulator
import Encodings
import Foundation
import HTTPAPI
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

/// Acknowledged changes survive every crash of the process.
@Suite(.serialized) struct CrashTests {
    static let quietSecret = "a key that is limited to an app without users"
    static let kills = 20
    /// The largest number of users that sign in between two kills.
    static let usersPerRound = 60

    @Test func `nothing acknowledged is lost when the process is killed under load, 20 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let variables = try ServiceProcess.variables(directory)
            let acknowledged = Acknowledged()
            for round in 0..<Self.kills {
                let service = try await ServiceProcess.serve(directory, variables)
                let load = Task { await Self.load(service, round: round, into: acknowledged) }
                // The kill comes at a different point of the load in each round.
                let enough = acknowledged.all.count + 1 + round * 2
                try await eventually { acknowledged.all.count >= enough }
                await service.kill()
                await load.value
            }
            #expect(acknowledged.all.count > Self.kills)
            let hasRevoked = acknowledged.all.contains { $0.isRevoked }
            #expect(hasRevoked)

            let service = try await ServiceProcess.serve(directory, variables)
            let backend = service.backend
            for promise in acknowledged.all {
                let account = try await backend.account(promise.subject)
                #expect(account["id"]?.string == promise.accountID)
                let state = try await backend.credential(promise.subject)["state"]?.string
                // Changes that were not acknowledged may have happened too.
                #expect(state == "revoked" || (state == "authorized" && !promise.isRevoked))
            }
            #expect(await service.stop() == 0)
        }
    }

    @Test func `a graceful stop answers running requests, ends long polls, and loses nothing`() async throws {
        try await TemporaryDirectory.with { directory in
            let variables = try ServiceProcess.variables(directory, yaml: Self.quietApp)
            let acknowledged = Acknowledged()
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = service.backend
            let load = Task { await Self.load(service, round: 0, into: acknowledged) }
            try await eventually { acknowledged.all.count >= 5 }
            // Its API key sees no events, so that it waits.
            let quiet = Backend(port: service.port, secret: Self.quietSecret)
            async let poll = quiet.get("/v1/events?after=latest&wait=30")
            try await eventually { try await backend.get("/metrics").text.contains("siwa_event_readers 1\n") }
            let began = ContinuousClock.now
            #expect(await service.stop() == 0)
            #expect(ContinuousClock.now - began < .seconds(20))
            await load.value
            #expect(try await poll.status == 200)

            let again = try await ServiceProcess.serve(directory, variables)
            let reader = again.backend
            for promise in acknowledged.all {
                #expect(try await reader.account(promise.subject)["id"]?.string == promise.accountID)
            }
            #expect(await again.stop() == 0)
        }
    }

    @Test func `the log of a whole run has no token, no subject, no address and no key`() async throws {
        let token = try Minted.token("log.subject")
        let log = try await ServiceProcess.with(["SIWA_LOG_LEVEL": "trace"]) { service, _ in
            _ = try await service.backend.signIn(token)
            _ = try await service.backend.credential("log.subject")
            _ = try await service.backend.signIn(String(token.dropLast(2)))
            _ = await service.stop()
            return service.logText
        }
        #expect(log.contains("route=/v1/sign-ins"))
        for secret in [token, "log.subject", "relay.example", Backend.secret, String(token.prefix(40))] {
            #expect(!log.contains(secret))
        }
    }

    /// Signs in users, and revokes every second user, until the service is gone.
    private static func load(_ service: ServiceProcess, round: Int, into acknowledged: Acknowledged) async {
        let backend = service.backend
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    for number in stride(from: lane, to: usersPerRound, by: 8) {
                        let subject = "round\(round).user\(number)"
                        guard let token = try? Minted.token(subject),
                            let response = try? await backend.signIn(token)
                        else { return }
                        guard response.status == 201, let id = response["account"]?["id"]?.string else {
                            continue
                        }
                        acknowledged.signedIn(subject, id)
                        guard number % 2 == 0, let payload = try? Minted.notification(subject) else {
                            continue
                        }
                        guard let told = try? await backend.notify(payload) else { return }
                        if told.status == 200 { acknowledged.revoked(subject) }
                    }
                }
            }
        }
    }

    /// A second app without users, and an API key that is limited to it.
    private static let quietApp = """
        teams:
          - team_id: A1B2C3D4E5
            apps:
              - client_ids: [\(TokenMint.clientID)]
              - client_ids: [com.example.quiet]
        api_keys:
          - name: quiet
            hash: \(Hexadecimal.encode(APIKeySecret.hash(quietSecret)))
            apps: [com.example.quiet]
        """
}

/// The changes that the service has acknowledged: the service must have all of them after a crash.
final class Acknowledged: Sendable {
    struct Promise: Sendable {
        let subject: String
        let accountID: String
        var isRevoked = false
    }

    private let promises = Mutex<[String: Promise]>([:])

    func signedIn(_ subject: String, _ accountID: String) {
        promises.withLock { $0[subject] = Promise(subject: subject, accountID: accountID) }
    }

    func revoked(_ subject: String) { promises.withLock { $0[subject]?.isRevoked = true } }

    var all: [Promise] { promises.withLock { Array($0.values) } }
}

/// The process is killed while it waits for Apple, at every step of an exchange, a check and an erasure. The
/// work is finished after a restart, and Apple never gets more requests than allowed.
@Suite(.serialized) struct RelationCrashTests {
    /// The state of Apple's endpoint when the process was killed.
    enum Moment: CaseIterable { case asked, done }

    @Test(arguments: Moment.allCases)
    func `an exchange that was cut off ends after a restart`(moment: Moment) async throws {
        try await Relation.with { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            relation.hold(.token, afterItsWork: moment == .done)
            let signedIn = try await relation.signIn(user, at: backend)
            #expect(signedIn.status == 201)
            #expect(signedIn["credential"]?["refresh_token"] == "pending")
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
                try await relation.credential(of: user, at: backend)?["refresh_token"] == "held"
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
                try await relation.credential(of: user, at: reader)?["state"] == "revoked"
            }
            let credential = try await relation.credential(of: user, at: reader)
            #expect(credential?["reason"] == "refresh_token_rejected")
            #expect(credential?["source"] == "daily_check")
            #expect(credential?["refresh_token_cause"] == "rejected")
            // Apple counts the requests, and would have throttled them.
            #expect(relation.apple.counters.refreshesThrottled == 0)
            #expect(await again.stop() == 0)
        }
    }

    /// The step of the erasure when the process was killed.
    enum Step: CaseIterable { case revocationAsked, revocationDone, proofAsked, proofDone }

    @Test(arguments: Step.allCases)
    func `an erasure that was cut off ends with the same report`(step: Step) async throws {
        try await Relation.with { relation in
            let user = try relation.apple.makeUser(UserRecipe())
            let (service, backend) = try await relation.serve()
            let signedIn = try await relation.signIn(user, at: backend)
            let account = try #require(signedIn["account"]?["id"]?.string)
            try await eventually {
                try await relation.credential(of: user, at: backend)?["refresh_token"] == "held"
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
                try await reader.get("/v1/erasures/\(id)")["erasure"]?["state"] == "completed"
            }
            let report = try await reader.get("/v1/erasures/\(id)")["erasure"]
            #expect(report?["tokens"]?.array?.count == 1)
            #expect(report?["tokens"]?.array?.first?["outcome"] == "revoked_and_proven")
            #expect(report?["user_must_revoke"] == false)
            #expect(relation.apple.counters.revocations == 1)
            #expect(try await reader.get("/v1/accounts/\(account)").code == "account_not_found")
            #expect(await again.stop() == 0)
        }
    }
}
