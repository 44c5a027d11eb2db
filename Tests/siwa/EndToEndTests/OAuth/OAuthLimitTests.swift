import AppleEmulator
import GoogleEmulator
import StrictJSON
import TestSupport
import Testing

/// The largest number of tokens of one user, when all requests arrive at two replicas at the same time.
@Suite(.serialized) struct OAuthLimitTests {
    @Test func `of thirty links with Google at once ten are good, those that were made last`() async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let first = try await replicas[0].link(
                .token(try system.identityToken(of: try system.makeUser())))
            let account = try #require(try await replicas[1].introspect(first.accessToken)["sub"])
            let codes = try await OAuthRaceTests.atOnce(30, at: replicas) {
                try await $0.flip(.account(account))
            }
            let links = try await Self.redeemAll(codes, at: replicas) { try await $0.redeem($1) }
            #expect(try await !replicas[1].isActive(first.refreshToken))
            #expect(try await Self.countActive(links, at: replicas[0]) == 10)
            #expect(try await replicas[0].grants(of: account).count == 1)
            let last = try await replicas[1].link(.account(account))
            #expect(try await replicas[0].isActive(last.refreshToken))
            #expect(try await Self.countActive(links, at: replicas[1]) == 9)
            // Google knows of what it was given instead, so it is told nothing.
            #expect(system.google.receivedEvents.isEmpty)
        }
    }

    @Test func `fifty tokens of native apps are good at most, and they end no link with Google`() async throws
    {
        try await LinkedSystem.withReplicas { system, replicas in
            let user = try system.makeUser()
            let google = try await replicas[0].link(.token(try system.identityToken(of: user)))
            let visitor = UserAtBrowser(user, system, at: replicas)
            var codes: [(phone: String, code: String)] = []
            for phone in LinkedClients.phones {
                for _ in 0..<10 { codes.append((phone, try await visitor.code(phone: phone))) }
            }
            let links = try await Self.redeemAll(codes, at: replicas) { replica, code in
                try await replica.redeem(code.code, phone: code.phone)
            }
            #expect(links.count == 60)
            #expect(try await Self.countActive(links, at: replicas[1]) == 50)
            #expect(try await replicas[1].isActive(google.refreshToken))
            #expect(try await replicas[0].isActive(google.accessToken))
        }
    }

    private static func redeemAll<Code: Sendable>(
        _ codes: [Code], at replicas: [OAuthReplica],
        _ redeem: @escaping @Sendable (OAuthReplica, Code) async throws -> OAuthReplica.Response
    ) async throws -> [OAuthReplica.Link] {
        try await withThrowingTaskGroup(of: OAuthReplica.Link.self) { group in
            for (number, code) in codes.enumerated() {
                group.addTask { try OAuthReplica.link(of: try await redeem(replicas[number % 2], code)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func countActive(_ links: [OAuthReplica.Link], at replica: OAuthReplica) async throws
        -> Int
    {
        let active = try await links.asyncMap { link in
            let isActive = try await replica.isActive(link.refreshToken)
            // Access tokens end with their refresh token.
            #expect(try await replica.isActive(link.accessToken) == isActive)
            return isActive
        }
        return active.count { $0 }
    }
}
