import AppleEmulator
import GoogleEmulator
import NIOHTTP1
import StrictJSON
import Testing

/// The largest number of tokens of one user, when all requests arrive at two replicas at the same time.
@Suite(.serialized) struct OAuthLimitTests {
    @Test func `of thirty links with Google at once ten are good, those that were made last`() async throws {
        try await LinkedSystem.withReplicas { system, replicas in
            let first = try await replicas[0].link(.token(try await system.identityToken()))
            let account = try #require(try await replicas[1].introspect(first.accessToken)["sub"]?.string)
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
            let google = try await replicas[0].link(.token(try await system.identityToken(of: user)))
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
        _ codes: [Code], at replicas: [ServiceProcess],
        _ redeem: @escaping @Sendable (ServiceProcess, Code) async throws -> TestClient.Response
    ) async throws -> [ServiceProcess.Link] {
        try await withThrowingTaskGroup(of: ServiceProcess.Link.self) { group in
            for (number, code) in codes.enumerated() {
                group.addTask { try ServiceProcess.Link(try await redeem(replicas[number % 2], code)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func countActive(_ links: [ServiceProcess.Link], at replica: ServiceProcess) async throws
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

/// A deployment without OAuth clients sees nothing of the authorization server.
@Suite(.serialized) struct WithoutOAuthClientsTests {
    private static let calls: [(method: HTTPMethod, target: String)] = [
        (.GET, "/oauth/authorize?client_id=google&response_type=code"), (.POST, "/oauth/authorize"),
        (.POST, "/oauth/token"), (.GET, "/oauth/revoke"), (.POST, "/oauth/revoke"),
        (.POST, "/oauth/introspect"), (.GET, "/oauth/userinfo"), (.POST, "/oauth/userinfo"),
        (.GET, "/oauth/jwks.json"), (.GET, "/v1/jwks.json"), (.GET, "/oauth/"),
        (.GET, "/.well-known/oauth-authorization-server"),
        (.GET, "/.well-known/openid-configuration"), (.GET, "/.well-known/risc-configuration"),
        (.GET, "/.well-known/apple-app-site-association"), (.GET, "/.well-known/assetlinks.json"),
        (.POST, "/v1/oauth/app-flip"), (.POST, "/v1/oauth/app-flip/prompt"),
        (.POST, "/v1/google/security-events"), (.GET, "/.well-known/ssf-configuration"),
        (.GET, "/oauth/events/stream"), (.POST, "/oauth/events/poll"), (.POST, "/oauth/events/verify"),
        (.POST, "/v1/event-receivers/billing/poll"),
    ]
    private static let tables = [
        "oauth_grant", "oauth_grant_pace", "oauth_token_family", "oauth_code", "google_event",
        "google_account", "signing_key", "event_receiver", "event_retry",
    ]

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `every call is 404, and no row is written, no key made, and no worker runs`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store, hasClients: false) { system in
            let service = try await system.serve(0, ["SIWA_LOG_LEVEL": "trace"])
            let user = try system.makeUser()
            let signedIn = try await service.backend.signIn(try await system.identityToken(of: user))
            let account = try #require(signedIn["account"]?["id"]?.string)
            let grants = "/v1/accounts/\(account)/grants"
            let unknown = try await service.send(.GET, "/unknown", headers: Self.headers)
            for call in Self.calls + [(.GET, grants), (.DELETE, "\(grants)/\(account)")] {
                let body = call.method == .POST ? Array("grant_type=refresh_token".utf8) : nil
                let response = try await service.send(
                    call.method, call.target, headers: Self.headers, body: body)
                #expect(response.status == 404, "\(call.method) \(call.target): \(response.text)")
                #expect(response["code"] == unknown["code"])
            }
            // What ends grants elsewhere: a withdrawn consent and an erasure.
            #expect(try await service.backend.notify(try await system.revocation(of: user)).status == 200)
            #expect(try await service.backend.delete("/v1/accounts/\(account)").status == 200)

            let rows = try await system.database.rowCounts()
            for table in Self.tables { #expect(rows[table] == 0, "\(table)") }
            let metrics = try await service.backend.get("/metrics").text
            #expect(metrics.contains("siwa_http_requests_total"))
            #expect(!metrics.contains("siwa_oauth") && !metrics.contains("siwa_google"))
            #expect(await service.stop() == 0)
            let log = service.logText
            #expect(!log.contains("signing key") && !log.contains("OAuth"), "\(log)")
            #expect(system.google.exchanges.isEmpty)
        }
    }

    private static let headers = [
        ("Authorization", "Bearer \(Backend.secret)"), ("Content-Type", "application/x-www-form-urlencoded"),
    ]
}
