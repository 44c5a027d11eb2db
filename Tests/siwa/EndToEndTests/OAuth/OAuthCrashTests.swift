import Cryptography
import EmulatorServer
import Encodings
import Foundation
import GoogleEmulator
import StrictJSON
import TestSupport
import Testing

/// Changes that a service has acknowledged to OAuth clients survive every crash of the service.
@Suite(.serialized) struct OAuthCrashTests {
    static let kills = 8
    /// Outcomes of which the load has several, so that each is checked.
    private static let checkedStates: [OAuthLedger.Link.State] = [.code, .linked, .unlinked]

    @Test(.timeLimit(.hung), arguments: ObservedDatabase.Store.allCases)
    func `nothing acknowledged is lost, and no code works twice, when services are killed 8 times`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store) { system in
            let count = store == .postgres ? 2 : 1
            let replicas = try await system.replicas(count)
            let ledger = Shared(OAuthLedger())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<6 {
                    group.addTask { await OAuthLoad(system, replicas, ledger, lane: lane).run() }
                }
                var kill = 0
                // A kill loses the response of a rotation only by chance: rarely, eight of them lose none.
                while kill < Self.kills || ledger.repeatedRotations == 0 && kill < 8 * Self.kills {
                    // Each comes at another point of the load.
                    let enough = ledger.acknowledged + Int.random(in: 12...40)
                    try await eventually { ledger.acknowledged >= enough }
                    await replicas.kill(kill % count)
                    try await replicas.start(kill % count)
                    kill += 1
                }
                #expect(ledger.repeatedRotations > 0)
                // A slow machine has made few of one kind until here.
                try await eventually {
                    Self.checkedStates.allSatisfy { state in ledger.change { $0.count(state) } > 5 }
                }
                ledger.close()
                try await group.waitForAll()
            }
            #expect(ledger.contradictions == [])
            // What a crash has left claimed.
            try await system.makeDeliveriesDue()
            try await Self.check(ledger, at: replicas)
            try await Self.checkEvents(ledger, at: system)
            #expect(await replicas.stop())
            try await Self.checkAudit(ledger, at: system)
        }
    }

    /// Checks that the chain of the audit log is whole, and that each acknowledged token has its row.
    private static func checkAudit(_ ledger: Shared<OAuthLedger>, at system: LinkedSystem) async throws {
        try await system.run(["audit", "verify"]).checked()
        let rows = try await system.run(["audit", "export"]).output.split(separator: "\n")
            .filter { $0.hasPrefix("{") }.map { try JSONValue(parsing: Array($0.utf8)) }
        func families(_ action: String) -> Set<String> {
            Set(rows.filter { $0["action"]?.string == action }.compactMap { $0["token_family"]?.string })
        }
        let (issued, ended) = (families("tokens_issued"), families("tokens_ended"))
        #expect(ended.isSubset(of: issued))
        for link in ledger.links {
            guard let family = try link.refreshToken.map(Self.family) else { continue }
            #expect(issued.contains(family), "no row of issued tokens")
            switch link.state {
            case .linked: #expect(!ended.contains(family), "a row of tokens that are good")
            case .unlinked: #expect(ended.contains(family), "no row of ended tokens")
            case .code, .redemptionUncertain, .endUncertain: break
            }
        }
        for (_, token) in ledger.phoneTokens { #expect(issued.contains(try Self.family(of: token))) }
        // What is stored has its row, also where the response was lost.
        let stored = try await system.database.query(
            "SELECT count(*) FROM oauth_token_family AS f WHERE NOT EXISTS ("
                + "SELECT 1 FROM audit AS a WHERE a.token_family = f.id AND a.action = 4)")
        #expect(stored == "0")
    }

    /// The ID of a token family, which each of its refresh tokens begins with.
    private static func family(of token: String) throws -> String {
        let bytes = try #require(Base64URL.decode(String(token.dropFirst("siwa_rt_".count))))
        return Hexadecimal.encode(Array(bytes.prefix(16)))
    }

    private static func check(_ ledger: Shared<OAuthLedger>, at replicas: Replicas) async throws {
        func replica() throws -> ServiceProcess { try #require(replicas.all.first) }
        for link in ledger.links {
            switch link.state {
            case .code:
                #expect(try await replica().redeem(link.code).status == 200)
                #expect(try await replica().redeem(link.code).error == "invalid_grant")
            case .redemptionUncertain:
                let first = try await replica().redeem(link.code)
                #expect(first.status == 200 || first.error == "invalid_grant")
                #expect(try await replica().redeem(link.code).error == "invalid_grant")
            case .linked:
                let token = try #require(link.refreshToken)
                #expect(try await replica().isActive(try #require(link.accessToken)))
                #expect(try await replica().refresh(token).status == 200)
            case .endUncertain, .unlinked:
                let token = try #require(link.refreshToken)
                let isActive = try await replica().isActive(token)
                #expect(!isActive || link.state == .endUncertain)
                #expect(try await replica().refresh(token).status == (isActive ? 200 : 400))
            }
        }
        for (phone, token) in ledger.phoneTokens {
            #expect(try await replica().refresh(token, phone: phone).status == 200)
        }
    }

    /// Checks that Google gets an event for every ended token, with the same `jti` in each delivery.
    private static func checkEvents(_ ledger: Shared<OAuthLedger>, at system: LinkedSystem) async throws {
        let ended = ledger.links.filter { $0.state == .unlinked }.compactMap(\.refreshToken).map(hash)
        try await eventually { Set(ended).isSubset(of: Set(system.google.receivedEvents.map(\.tokenHash))) }
        let hashes = system.google.receivedEvents.map(\.tokenHash)
        #expect(Set(hashes).count == hashes.count, "a token was reported under two jti")
    }

    static func hash(_ token: String) -> String {
        Hexadecimal.encode(SHA512Digest.hash(SHA512Digest.hash(Array(token.utf8)).bytes).bytes)
    }

    /// An unread response has the same effect as a response that was lost in a crash.
    @Test(arguments: ObservedDatabase.Store.allCases)
    func `what was written and not answered before a crash can be asked for again`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store) { system in
            // On PostgreSQL the other replica goes on; on SQLite the same one, after a restart.
            let replicas = try await system.replicas(store == .postgres ? 2 : 1)
            func crash() async throws -> ServiceProcess {
                await replicas.kill(0)
                if store == .sqlite { try await replicas.start(0) }
                return try #require(replicas.all.first)
            }
            let before = try #require(replicas.all.first)
            let user = try system.makeUser()
            let phone = LinkedClients.phones[0]
            let code = try await before.flip(.token(try await system.identityToken(of: user)))
            let visitor = UserAtBrowser(user, system, at: replicas.all)
            let first = try ServiceProcess.Link(
                try await before.redeem(try await visitor.code(phone: phone), phone: phone))
            let unused = try await visitor.code(phone: phone)
            _ = try await before.redeem(code)
            let lost = try ServiceProcess.Link(try await before.refresh(first.refreshToken, phone: phone))

            let after = try await crash()
            #expect(try await after.redeem(code).error == "invalid_grant")
            #expect(try await after.redeem(unused, phone: phone).status == 200)
            let second = try ServiceProcess.Link(try await after.refresh(first.refreshToken, phone: phone))
            #expect(second.refreshToken == lost.refreshToken)
            #expect(try await after.isActive(second.refreshToken))
            let third = try ServiceProcess.Link(try await after.refresh(second.refreshToken, phone: phone))
            // Its successor is used, but only since a moment.
            let again = try ServiceProcess.Link(try await after.refresh(first.refreshToken, phone: phone))
            #expect(again.refreshToken == third.refreshToken)
            #expect(try await after.isActive(third.accessToken))
            #expect(await replicas.stop())
        }
    }
}

/// Kills the process at each step of the delivery of an event about an ended token to Google.
@Suite(.serialized) struct OAuthDeliveryCrashTests {
    enum Moment: CaseIterable {
        /// Google has not accepted the event, which is delivered again later.
        case queued
        /// Google has the request, and has not responded.
        case posted
        /// Google has accepted the event, and the service has not recorded it.
        case taken
    }

    struct Case: CustomTestStringConvertible {
        let store: ObservedDatabase.Store
        let moment: Moment

        static let all = ObservedDatabase.Store.allCases.flatMap { store in
            Moment.allCases.map { Case(store: store, moment: $0) }
        }

        var testDescription: String { "\(store), \(moment)" }
    }

    @Test(arguments: Case.all)
    func `Google is told of a token that ended before the crash, under one jti`(place: Case) async throws {
        try await LinkedSystem.with(place.store) { system in
            // The fake Google finds the keys at the replica 0. On PostgreSQL that one takes over.
            let victim = place.store == .postgres ? 1 : 0
            let replicas = try await system.replicas(victim + 1)
            let service = try #require(replicas.all.first { $0.port == system.ports[victim] })
            let token = try await system.identityToken()
            let code = try await service.flip(.token(token))
            let link = try ServiceProcess.Link(try await service.redeem(code))
            let account = try #require(try await service.introspect(link.accessToken)["sub"]?.string)
            try await Self.hold(place.moment, system)

            let grant = try #require(try await service.grants(of: account).first)
            #expect(try await service.unlink(grant, of: account).status == 204)
            try await Self.waitUntilHeld(place.moment, system)
            await replicas.kill(victim)
            try await Self.release(place.moment, system)

            try await system.makeDeliveriesDue()
            if place.store == .sqlite { try await replicas.start(victim) }
            // A new user wakes the worker, which else looks every ten seconds.
            let other = try await system.identityToken()
            _ = try await #require(replicas.all.first).flip(.token(other))
            let expected = place.moment == .taken ? 2 : 1
            try await eventually { system.google.receivedEvents.first?.deliveries ?? 0 >= expected }
            #expect(
                system.google.receivedEvents.map(\.tokenHash) == [OAuthCrashTests.hash(link.refreshToken)])
            try await eventually { try await system.isGoogleUpToDate() }
            #expect(await replicas.stop())
        }
    }

    private static func hold(_ moment: Moment, _ system: LinkedSystem) async throws {
        var fault = GoogleFault()
        switch moment {
        case .queued: fault.status = 503
        case .posted: (fault.delayMilliseconds, fault.status) = (GoogleFault.maximumDelay, 503)
        // A claim does not write this column.
        case .taken: return try await system.database.refuseUpdates(of: "cursor", in: "event_receiver")
        }
        system.google.setFault(fault, at: .report)
    }

    private static func waitUntilHeld(_ moment: Moment, _ system: LinkedSystem) async throws {
        switch moment {
        case .queued:
            try await eventually { system.google.exchanges.contains { $0.response.hasPrefix("503") } }
        case .posted:
            try await eventually {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                return try await system.database.query(
                    "SELECT count(*) FROM event_receiver WHERE name = 'google' AND not_before > \(now)")
                    == "1"
            }
        case .taken: try await eventually { !system.google.receivedEvents.isEmpty }
        }
    }

    private static func release(_ moment: Moment, _ system: LinkedSystem) async throws {
        system.google.setFault(nil, at: .report)
        if moment == .taken {
            // A process that lives on records nothing of what it has sent.
            try await system.database.query("UPDATE event_receiver SET claims = claims + 1")
            try await system.database.allowUpdates(in: "event_receiver")
        }
    }
}

extension LinkedSystem {
    /// Makes all deliveries due, as if the time of every claim and pause had passed.
    func makeDeliveriesDue() async throws {
        try await database.query(
            "UPDATE event_retry SET due_at = 0; UPDATE event_receiver SET not_before = 0")
    }

    /// Returns `true` when nothing waits for Google.
    func isGoogleUpToDate() async throws -> Bool {
        try await database.query(
            """
            SELECT count(*) FROM event_receiver WHERE name = 'google'
                AND cursor = (SELECT max(sequence) FROM event)
                AND NOT EXISTS (SELECT 1 FROM event_retry WHERE receiver = 'google')
            """) == "1"
    }
}
