import Cryptography
import Encodings
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
            let replicas = try await ReplicaSet(system, count: count)
            let ledger = OAuthLedger()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<6 {
                    group.addTask { await OAuthLoad(system, replicas, ledger, lane: lane).run() }
                }
                for kill in 0..<Self.kills {
                    // Each comes at another point of the load.
                    let enough = ledger.acknowledged + Int.random(in: 12...40)
                    try await eventually { ledger.acknowledged >= enough }
                    await replicas.kill(kill % count)
                    try await replicas.start(kill % count)
                }
                // A slow machine has made few of one kind until here.
                try await eventually {
                    Self.checkedStates.allSatisfy { ledger.count($0) > 5 } && ledger.repeatedRotations > 0
                }
                ledger.close()
                try await group.waitForAll()
            }
            #expect(ledger.contradictions == [])
            // What a crash has left claimed.
            try await system.makeDeliveriesDue()
            try await Self.check(ledger, at: replicas)
            try await Self.checkEvents(ledger, at: system)
            #expect(await replicas.stop().allSatisfy { $0 == 0 })
            try await Self.checkAudit(ledger, at: system)
        }
    }

    /// Checks that the chain of the audit log is whole, and that each acknowledged token has its row.
    private static func checkAudit(_ ledger: OAuthLedger, at system: LinkedSystem) async throws {
        let verified = try await system.run(["audit", "verify"])
        #expect(verified.status == 0, "\(verified.output)")
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

    private static func check(_ ledger: OAuthLedger, at replicas: ReplicaSet) async throws {
        func replica() throws -> OAuthReplica { try #require(replicas.all.first) }
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
    private static func checkEvents(_ ledger: OAuthLedger, at system: LinkedSystem) async throws {
        let ended = ledger.links.filter { $0.state == .unlinked }.compactMap(\.refreshToken).map(hash)
        try await eventually {
            Set(ended).isSubset(of: Set(system.google.receivedEvents.map(\.tokenHash)))
        }
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
            let replicas = try await ReplicaSet(system, count: store == .postgres ? 2 : 1)
            func crash() async throws -> OAuthReplica {
                if store == .postgres {
                    await replicas.kill(0)
                } else {
                    await replicas.kill(0)
                    try await replicas.start(0)
                }
                return try #require(replicas.all.first)
            }
            let before = try #require(replicas.all.first)
            let user = try system.makeUser()
            let phone = LinkedClients.phones[0]
            let code = try await before.flip(.token(try system.identityToken(of: user)))
            let visitor = UserAtBrowser(user, system, at: replicas.all)
            let first = try OAuthReplica.link(
                of: try await before.redeem(try await visitor.code(phone: phone), phone: phone))
            let unused = try await visitor.code(phone: phone)
            _ = try await before.redeem(code)
            let lost = try OAuthReplica.link(of: try await before.refresh(first.refreshToken, phone: phone))

            let after = try await crash()
            #expect(try await after.redeem(code).error == "invalid_grant")
            #expect(try await after.redeem(unused, phone: phone).status == 200)
            let second = try OAuthReplica.link(
                of: try await after.refresh(first.refreshToken, phone: phone))
            #expect(second.refreshToken == lost.refreshToken)
            #expect(try await after.isActive(second.refreshToken))
            let third = try OAuthReplica.link(
                of: try await after.refresh(second.refreshToken, phone: phone))
            // Its successor is used, but only since a moment.
            let again = try OAuthReplica.link(
                of: try await after.refresh(first.refreshToken, phone: phone))
            #expect(again.refreshToken == third.refreshToken)
            #expect(try await after.isActive(third.accessToken))
            #expect(await replicas.stop().allSatisfy { $0 == 0 })
        }
    }
}
