import AppleEmulator
import GoogleEmulator
import StrictJSON
import TestSupport
import Testing

/// Links with Google that end at several replicas at once, for several reasons.
@Suite(.serialized, .timeLimit(.hung)) struct GoogleReportRaceTests {
    private enum Way: CaseIterable {
        case unlinked, erased, signedOut, withdrawn
    }

    private struct Linked: Sendable {
        let way: Way
        let user: EmulatedUser
        let account: String
        let grant: JSONValue
        let refreshToken: String
    }

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `each ended link is reported under one jti, when replicas race to end it`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store) { system in
            let replicas = try await ReplicaSet(system, count: store == .postgres ? 2 : 1)
            var links: [Linked] = []
            for way in Array(repeating: Way.allCases, count: 4).flatMap({ $0 }) {
                links.append(try await Self.link(way, system, at: try #require(replicas.all.first)))
            }
            // Every replica ends every link, and the replicas work on the same link at the same time.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for link in links {
                    let payload = try system.revocation(of: link.user)
                    for replica in replicas.all + replicas.all {
                        group.addTask { try await Self.end(link, payload, at: replica) }
                    }
                }
                try await group.waitForAll()
            }
            let expected = Set(links.map { OAuthCrashTests.hash($0.refreshToken) })
            try await eventually { expected.isSubset(of: system.google.receivedEvents.map(\.tokenHash)) }
            try await eventually { try await system.isGoogleUpToDate() }
            let list = try await system.run(["deliveries", "list"])
            #expect(list.output == "google: up to date\n")
            // The fake Google has one entry for each `jti`.
            let told = system.google.receivedEvents.map(\.tokenHash)
            #expect(told.count == links.count && Set(told) == expected)
            #expect(await replicas.stop().allSatisfy { $0 == 0 })
        }
    }

    private static func link(
        _ way: Way, _ system: LinkedSystem, at replica: OAuthReplica
    ) async throws -> Linked {
        let user = try system.makeUser()
        let code = try await replica.flip(.token(try system.identityToken(of: user)))
        let link = try OAuthReplica.link(of: try await replica.redeem(code))
        let account = try #require(try await replica.introspect(link.accessToken)["sub"])
        return Linked(
            way: way, user: user, account: account,
            grant: try #require(try await replica.grants(of: account).first), refreshToken: link.refreshToken)
    }

    /// The other replica may be first, so the response can say that nothing is left.
    private static func end(_ link: Linked, _ payload: String, at replica: OAuthReplica) async throws {
        let status: Int
        switch link.way {
        case .unlinked: status = Int(try await replica.unlink(link.grant, of: link.account).status)
        case .erased: status = Int(try await replica.backend.delete("/v1/accounts/\(link.account)").status)
        case .signedOut:
            status = Int(
                try await replica.backend.post(
                    "/v1/accounts/\(link.account)/sign-out", [("google", .bool(true))]
                ).status)
        case .withdrawn: status = Int(try await replica.backend.notify(payload).status)
        }
        #expect([200, 202, 204, 404].contains(status), "\(link.way)")
    }
}
