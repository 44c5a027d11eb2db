import AppleEmulator
import StrictJSON
import TestSupport
import Testing

/// Uses of the same codes and tokens at two replicas at the same time.
@Suite(.serialized) struct OAuthRaceTests {
    @Test func `one of twenty redemptions of a code at once succeeds, and its tokens stay good`() async throws
    {
        try await LinkedSystem.withReplicas { system, replicas in
            for _ in 0..<20 {
                let token = try system.identityToken(of: try system.makeUser())
                let code = try await replicas[0].flip(.token(token))
                let responses = try await Self.atOnce(20, at: replicas) { try await $0.redeem(code) }
                let issued = responses.filter { $0.status == 200 }
                #expect(issued.count == 1)
                #expect(responses.count { $0.status == 400 && $0.error == "invalid_grant" } == 19)
                // The others are retries, and no theft.
                let link = try OAuthReplica.link(of: try #require(issued.first))
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
                let first = try OAuthReplica.link(of: try await replicas[0].redeem(code, phone: phone))
                let responses = try await Self.atOnce(20, at: replicas) {
                    try await $0.refresh(first.refreshToken, phone: phone)
                }
                #expect(responses.allSatisfy { $0.status == 200 })
                let successors = try responses.map { try OAuthReplica.link(of: $0) }
                #expect(Set(successors.map(\.refreshToken)).count == 1)
                #expect(Set(successors.map(\.accessToken)).count == 20)
                for replica in replicas {
                    #expect(try await replica.isActive(successors[0].refreshToken))
                    #expect(try await !replica.isActive(first.refreshToken))
                }
                // Five exchanges later the first token is not stored any more.
                var newest = successors[0]
                for number in 0..<4 {
                    newest = try OAuthReplica.link(
                        of: try await replicas[number % 2].refresh(newest.refreshToken, phone: phone))
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
        _ end: End, _ system: LinkedSystem, _ replicas: [OAuthReplica]
    ) async throws -> [String] {
        let (here, there) = (replicas[0], replicas[1])
        let user = try system.makeUser()
        let link = try await here.link(.token(try system.identityToken(of: user)))
        let account = try #require(try await here.introspect(link.accessToken)["sub"])
        let code = try await there.flip(.account(account))

        async let refreshed = here.refresh(link.refreshToken)
        async let redeemed = there.redeem(code)
        async let flipped = here.flipAnswer(.account(account))
        async let ended = {
            switch end {
            case .consentRevoked: try await there.backend.notify(try system.revocation(of: user))
            case .erasure: try await there.backend.delete("/v1/accounts/\(account)")
            }
        }()
        let responses = [try await refreshed, try await redeemed]
        let late = OAuthReplica.parameter("code", of: try await flipped["redirect_to"]?.string)
        #expect(try await ended.status == 200)

        var tokens = [link.accessToken, link.refreshToken]
        for response in responses {
            guard response.status == 200 || response.error == "invalid_grant" else {
                return ["\(response.status) \(response.text)"]
            }
            tokens += [response["access_token"], response["refresh_token"]].compactMap { $0 }
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
        _ count: Int, at replicas: [OAuthReplica],
        _ call: @escaping @Sendable (OAuthReplica) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for number in 0..<count {
                group.addTask { try await call(replicas[number % replicas.count]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
