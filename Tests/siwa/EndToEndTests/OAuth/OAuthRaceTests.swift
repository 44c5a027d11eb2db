import AppleEmulator
import GoogleEmulator
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Uses of the same codes and tokens at two replicas at the same time.
@Suite(.serialized) struct OAuthRaceTests {
    @Test func `one of twenty redemptions of a code at once succeeds, and its tokens stay good`() async throws
    {
        try await LinkedSystem.withReplicas { system, replicas in
            for _ in 0..<20 {
                let token = try await system.identityToken()
                let code = try await replicas[0].flip(.token(token))
                let responses = try await Self.atOnce(20, at: replicas) { try await $0.redeem(code) }
                let issued = responses.filter { $0.status == 200 }
                #expect(issued.count == 1)
                #expect(responses.count { $0.status == 400 && $0.error == "invalid_grant" } == 19)
                // The others are retries, and no theft.
                let link = try ServiceProcess.Link(try #require(issued.first))
                for replica in replicas { #expect(try await replica.isActive(link.refreshToken)) }
            }
        }
    }

    @Test func `twenty rotations of a token at once have one successor, and a late one ends the family`()
        async throws
    {
        try await LinkedSystem.withReplicas { system, replicas in
            let phone = LinkedClients.phones[0]
            let user = UserAtBrowser(try system.makeUser(), system, at: replicas)
            for _ in 0..<8 {
                let code = try await user.code(phone: phone)
                let first = try ServiceProcess.Link(try await replicas[0].redeem(code, phone: phone))
                let responses = try await Self.atOnce(20, at: replicas) {
                    try await $0.refresh(first.refreshToken, phone: phone)
                }
                #expect(responses.allSatisfy { $0.status == 200 })
                let successors = try responses.map { try ServiceProcess.Link($0) }
                #expect(Set(successors.map(\.refreshToken)).count == 1)
                #expect(Set(successors.map(\.accessToken)).count == 20)
                for replica in replicas {
                    #expect(try await replica.isActive(successors[0].refreshToken))
                    #expect(try await !replica.isActive(first.refreshToken))
                }
                // Five exchanges later the first token is not stored any more.
                var newest = successors[0]
                for number in 0..<4 {
                    newest = try ServiceProcess.Link(
                        try await replicas[number % 2].refresh(newest.refreshToken, phone: phone))
                }
                #expect(
                    try await replicas[1].refresh(first.refreshToken, phone: phone).error == "invalid_grant")
                for token in [newest.refreshToken, newest.accessToken, first.accessToken] {
                    #expect(try await !replicas[0].isActive(token))
                }
                #expect(try await replicas[0].refresh(newest.refreshToken, phone: phone).status == 400)
            }
        }
    }

    /// Event that ends all tokens of a user.
    enum End: CaseIterable { case consentRevoked, erasure }

    @Test(arguments: End.allCases)
    func `no token is good of 120 users whose tokens end while they are used`(end: End) async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let faults = try await withThrowingTaskGroup(of: [String].self) { group in
                for lane in 0..<6 {
                    group.addTask {
                        try await stride(from: lane, to: 120, by: 6).asyncMap { _ in
                            try await Self.endInUse(end, system, replicas.shuffled())
                        }.flatMap { $0 }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(faults == [])
        }
    }

    private static func endInUse(
        _ end: End, _ system: LinkedSystem, _ replicas: [ServiceProcess]
    ) async throws -> [String] {
        let (here, there) = (replicas[0], replicas[1])
        let user = try system.makeUser()
        let link = try await here.link(.token(try await system.identityToken(of: user)))
        let account = try #require(try await here.introspect(link.accessToken)["sub"]?.string)
        let code = try await there.flip(.account(account))

        async let refreshed = here.refresh(link.refreshToken)
        async let redeemed = there.redeem(code)
        async let flipped = here.flipAnswer(.account(account))
        async let ended = {
            switch end {
            case .consentRevoked: try await there.backend.notify(try await system.revocation(of: user))
            case .erasure: try await there.backend.delete("/v1/accounts/\(account)")
            }
        }()
        let responses = [try await refreshed, try await redeemed]
        let late = TestClient.parameter("code", of: try await flipped["redirect_to"]?.string)
        #expect(try await ended.status == 200)

        var tokens = [link.accessToken, link.refreshToken]
        for response in responses {
            guard response.status == 200 || response.error == "invalid_grant" else {
                return ["\(response.status) \(response.text)"]
            }
            tokens += ["access_token", "refresh_token"].compactMap { response[$0]?.string }
        }
        var faults: [String] = []
        for replica in replicas {
            for token in tokens where try await replica.isActive(token) { faults.append("an active token") }
            for token in tokens where token.hasPrefix("siwa_rt_") {
                if try await replica.refresh(token).error != "invalid_grant" { faults.append("a refresh") }
            }
            for code in [code, late].compactMap({ $0 }) {
                if try await replica.redeem(code).error != "invalid_grant" { faults.append("a code") }
            }
            if end == .consentRevoked, try await !replica.grants(of: account).isEmpty {
                faults.append("a grant")
            }
        }
        return faults
    }

    /// Makes this many requests at the same time, alternately at the two replicas.
    static func atOnce<Value: Sendable>(
        _ count: Int, at replicas: [ServiceProcess],
        _ call: @escaping @Sendable (ServiceProcess) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for number in 0..<count { group.addTask { try await call(replicas[number % replicas.count]) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Two replicas with OAuth clients on one PostgreSQL: flows begin at one replica and continue at the other.
@Suite(.serialized) struct OAuthReplicaTests {
    @Test func `each step of a link works at the other replica, and its end holds at both`() async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let (here, there) = (replicas[0], replicas[1])
            let token = try await system.identityToken()
            let link = try ServiceProcess.Link(try await there.redeem(try await here.flip(.token(token))))
            let introspection = try await here.introspect(link.accessToken)
            #expect(introspection["active"] == true)
            #expect(introspection["iss"]?.string == system.issuer)
            let account = try #require(introspection["sub"]?.string)
            let again = try await here.refresh(link.refreshToken)
            let second = try #require(again["access_token"]?.string)
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
            let link = try await here.link(.token(try await system.identityToken()))
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
            let link = try await before.link(.token(try await system.identityToken()))
            let code = try await before.flip(
                .account(try #require(try await before.introspect(link.accessToken)["sub"]?.string)))
            let keys = try await before.send(.GET, "/oauth/jwks.json").text
            #expect(await before.stop() == 0)

            let after = try await system.serve()
            #expect(try await after.send(.GET, "/oauth/jwks.json").text == keys)
            #expect(try await after.isActive(link.accessToken))
            #expect(try await after.isActive(link.refreshToken))
            #expect(try await after.refresh(link.refreshToken).status == 200)
            #expect(try await after.redeem(code).status == 200)
            #expect(await after.stop() == 0)
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
