import AppleEmulator
import GoogleEmulator
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Two replicas with OAuth clients on one PostgreSQL: flows begin at one replica and continue at the other.
@Suite(.serialized) struct OAuthReplicaTests {
    @Test func `each step of a link works at the other replica, and its end holds at both`() async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let (here, there) = (replicas[0], replicas[1])
            let token = try system.identityToken(of: try system.makeUser())
            let link = try OAuthReplica.link(of: try await there.redeem(try await here.flip(.token(token))))
            let introspection = try await here.introspect(link.accessToken)
            #expect(introspection.json?["active"]?.bool == true)
            #expect(introspection["iss"] == system.issuer)
            let account = try #require(introspection["sub"])
            let again = try await here.refresh(link.refreshToken)
            let second = try #require(again["access_token"])
            #expect(again["refresh_token"] == nil)
            #expect(try await there.isActive(second))
            let grants = try await there.grants(of: account)
            #expect(grants.map { $0["client_id"]?.string } == [LinkedClients.google])

            #expect(try await there.revoke(link.refreshToken).status == 200)
            for token in [link.refreshToken, link.accessToken, second] {
                #expect(try await !here.isActive(token))
            }
            #expect(try await here.refresh(link.refreshToken).error == "invalid_grant")
            #expect(try await here.grants(of: account) == [])

            // Linked once more, and unlinked in the app: Google is told, once.
            let next = try await there.link(.account(account))
            let grant = try #require(try await here.grants(of: account).first)
            #expect(try await here.unlink(grant, of: account).status == 204)
            #expect(try await !there.isActive(next.accessToken))
            #expect(try await there.refresh(next.refreshToken).error == "invalid_grant")
            try await eventually { system.google.receivedEvents.count == 1 }
            #expect(system.google.receivedEvents.map(\.type) == ["token-revoked"])
        }
    }

    /// Both start at once on an empty database, so that each could make keys of its own.
    @Test(arguments: 1...3)
    func `a token of one replica is good at the other at once, also when its key was just made`(
        round: Int
    ) async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let (here, there) =
                round.isMultiple(of: 2) ? (replicas[1], replicas[0]) : (replicas[0], replicas[1])
            let link = try await here.link(.token(try system.identityToken(of: try system.makeUser())))
            #expect(try await there.isActive(link.accessToken))
            let info = try await there.send(
                .GET, "/oauth/userinfo", headers: [("Authorization", "Bearer \(link.accessToken)")])
            #expect(info.status == 200)
            let documents = try await [here, there].asyncMap {
                try await $0.send(.GET, "/oauth/jwks.json").text
            }
            #expect(documents[0] == documents[1])
            #expect(documents[0].contains("\"ES256\"") && documents[0].contains("\"RS256\""))
            let counts = try await system.database.rowCounts()
            #expect(counts["signing_key"] == 2)
        }
    }

    @Test func `a session of the browser is good at every replica`() async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let user = UserAtBrowser(try system.makeUser(), system, at: replicas)
            let phone = LinkedClients.phones[0]
            for round in 0..<2 {
                let code = try await user.code(phone: phone)
                let response = try await replicas[round].redeem(code, phone: phone)
                #expect(response.status == 200, "\(response.text)")
            }
        }
    }

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `tokens and keys are the same after a restart`(store: ObservedDatabase.Store) async throws {
        try await LinkedSystem.with(store) { system in
            let before = try await system.serve()
            let link = try await before.link(.token(try system.identityToken(of: try system.makeUser())))
            let code = try await before.flip(
                .account(try #require(try await before.introspect(link.accessToken)["sub"])))
            let keys = try await before.send(.GET, "/oauth/jwks.json").text
            #expect(await before.service.stop() == 0)

            let after = try await system.serve()
            #expect(try await after.send(.GET, "/oauth/jwks.json").text == keys)
            #expect(try await after.isActive(link.accessToken))
            #expect(try await after.isActive(link.refreshToken))
            #expect(try await after.refresh(link.refreshToken).status == 200)
            #expect(try await after.redeem(code).status == 200)
            #expect(await after.service.stop() == 0)
        }
    }
}

extension Sequence {
    /// Maps the elements one after the other.
    func asyncMap<Value>(_ change: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await change(element)) }
        return values
    }
}
