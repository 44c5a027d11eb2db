import AppleEmulator
import EmulatorServer
import Encodings
import GoogleEmulator
import NIOHTTP1
import Testing

#if os(Linux)
    /// Floods by clients without a secret against a service with OAuth clients: they cost no row, no disk and
    /// no memory, and do not delay other clients.
    @Suite(.serialized) struct OAuthFloodTests {
        /// Megabytes above the memory before the flood.
        static let mostMemory = 60
        /// Bytes. One row for each request would be many times as much.
        static let mostGrowth = 262_144

        @Test func `ten thousand authorization requests leave nothing behind`() async throws {
            try await LinkedSystem.with(.sqlite) { system in
                let service = try await system.serve()
                let user = UserAtBrowser(try system.makeUser(), system, at: [service])
                let phone = LinkedClients.phones[0]
                _ = try await user.code(phone: phone)
                let cookie = "Cookie: \(await user.cookieField)"
                let target = UserAtBrowser.target(phone: phone)
                let form = "csrf_token=guessed&decision=agree"
                let foreign = LinkedClients.web
                try await Self.expectNothingLeft(system, service) {
                    let away = try await RequestFlood.run(6000, port: service.port) { number in
                        RequestFlood.get("\(target)&nonce=\(number)")
                    }
                    Self.expectMostly(303, away)
                    let pages = try await RequestFlood.run(2000, port: service.port) { number in
                        RequestFlood.get("\(target)&nonce=\(number)", [cookie])
                    }
                    Self.expectMostly(200, pages)
                    let guesses = try await RequestFlood.run(1500, port: service.port) { number in
                        RequestFlood.post("\(target)&nonce=\(number)", form, [cookie, "Origin: null"])
                    }
                    Self.expectMostly(403, guesses)
                    let unknown = try await RequestFlood.run(1500, port: service.port) { number in
                        RequestFlood.get(
                            "/oauth/authorize?client_id=\(foreign)&redirect_uri=https://\(number)")
                    }
                    Self.expectMostly(400, unknown)
                }
                // The session goes on.
                let code = try await user.code(phone: phone)
                #expect(try await service.redeem(code, phone: phone).status == 200)
                #expect(await service.stop() == 0)
            }
        }

        @Test(arguments: ObservedDatabase.Store.allCases)
        func `wrong secrets, codes, tokens and assertions leave nothing behind, and Google goes on`(
            store: ObservedDatabase.Store
        ) async throws {
            try await LinkedSystem.with(store) { system in
                let service = try await system.serve()
                let link = try await service.link(.token(try await system.identityToken()))
                let google = FormEncoding.encode(ServiceProcess.googleCredentials)
                try await Self.expectNothingLeft(system, service) {
                    // Google goes on, from another address and from that of those who guess its secret.
                    async let guesses = RequestFlood.run(2000, port: service.port) { number in
                        RequestFlood.post(
                            "/oauth/token",
                            "grant_type=refresh_token&client_id=google&client_secret=\(number)&refresh_token=x"
                        )
                    }
                    for _ in 0..<20 { #expect(try await service.refresh(link.refreshToken).status == 200) }
                    Self.expectMostly(401, try await guesses)
                    let own = try await RequestFlood.run(20, port: service.port) { _ in
                        RequestFlood.post(
                            "/oauth/token", "\(google)&grant_type=refresh_token&refresh_token=siwa_rt_x")
                    }
                    #expect(own[400] == 20, "a right secret is not refused because of wrong ones: \(own)")

                    for request in Self.guesses(google) {
                        let statuses = try await RequestFlood.run(
                            500, port: service.port, from: "127.0.0.3", request)
                        Self.expectMostly([400, 401, 200], statuses)
                    }
                    // An invented key ID that no fetch has looked for is told when the next one is due.
                    for request in Self.guesses(ofKeyIDsAt: google) {
                        let statuses = try await RequestFlood.run(
                            500, port: service.port, from: "127.0.0.3", request)
                        #expect(Set(statuses.keys).isSubset(of: [400, 401, 503]), "\(statuses)")
                    }
                }
                // Invented key IDs do not make the service ask Google each time.
                let fetches = system.google.exchanges.count { $0.title.contains("fetched") }
                #expect(fetches < 12, "\(fetches) fetches")
                #expect(try await service.refresh(link.refreshToken).status == 200)
                #expect(try await service.isActive(link.accessToken))
                #expect(await service.stop() == 0)
            }
        }

        /// Requests of the guessers, by their numbers.
        private static func guesses(_ google: String) -> [@Sendable (Int) -> String] {
            let phone = "client_id=\(LinkedClients.phones[0])"
            return [
                { number in
                    let code = "siwa_ac_" + Base64URL.encode(SampleBytes.of(number, 32))
                    return RequestFlood.post(
                        "/oauth/token",
                        "grant_type=authorization_code&\(phone)&code=\(code)&redirect_uri=com.example.app:/back"
                    )
                },
                { number in
                    let token = "siwa_rt_" + Base64URL.encode(SampleBytes.of(number, 68))
                    return RequestFlood.post(
                        "/oauth/token", "grant_type=refresh_token&\(phone)&refresh_token=\(token)")
                },
                { RequestFlood.post("/oauth/introspect", "\(google)&token=\(SampleBytes.token($0))") },
                { number in
                    RequestFlood.post(
                        "/oauth/introspect", "token=\(number)", ["Authorization: Bearer siwa_\(number)"])
                },
                { RequestFlood.post("/oauth/revoke", "\(phone)&token=\(SampleBytes.token($0))") },
                { number in
                    RequestFlood.get(
                        "/oauth/userinfo", ["Authorization: Bearer \(SampleBytes.token(number))"])
                },
            ]
        }

        private static func guesses(ofKeyIDsAt google: String) -> [@Sendable (Int) -> String] {
            [
                { number in
                    let assertion = SampleBytes.token(number)
                    return RequestFlood.post(
                        "/oauth/token",
                        "\(google)&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
                            + "&intent=get&assertion=\(assertion)")
                },
                { number in
                    RequestFlood.post(
                        "/v1/google/security-events", body: SampleBytes.token(number),
                        ["Content-Type: application/secevent+jwt"])
                },
            ]
        }

        /// A trusted proxy names the source of requests, so there can be as many guessers as addresses.
        @Test func `guessers from 11,000 addresses find a table that is full, and are forgotten`()
            async throws
        {
            try await LinkedSystem.with(.sqlite) { system in
                let service = try await system.serve(0, ["SIWA_TRUSTED_PROXIES": "127.0.0.1"])
                let link = try await service.link(.token(try await system.identityToken()))
                @Sendable func guess(_ number: Int) -> String {
                    RequestFlood.post(
                        "/oauth/token",
                        "grant_type=refresh_token&client_id=google&client_secret=no&refresh_token=x",
                        ["X-Forwarded-For: 10.1.\(number >> 8).\(number & 255)"])
                }
                try await Self.expectNothingLeft(system, service) {
                    let statuses = try await RequestFlood.run(
                        11_000, port: service.port, from: "127.0.0.1", guess)
                    Self.expectMostly(401, statuses)
                }
                #expect(try await service.refresh(link.refreshToken).status == 200)
                #expect(await service.stop() == 0)
            }
        }

        private static func expectNothingLeft(
            _ system: LinkedSystem, _ service: ServiceProcess, during body: () async throws -> Void
        ) async throws {
            // It waits until all keys are made.
            #expect(try await service.send(.GET, "/oauth/jwks.json").status == 200)
            let rows = try await system.database.rowCounts()
            let bytes = try await system.database.bytes()
            let memory = try service.residentMegabytes()
            try await body()
            // What is due is deleted meanwhile.
            let after = try await system.database.rowCounts()
            for (table, count) in after { #expect(count <= rows[table, default: 0], "\(table)") }
            let growth = try await system.database.bytes() - bytes
            #expect(growth <= mostGrowth, "the database has grown by \(growth) bytes")
            let more = try service.residentMegabytes() - memory
            #expect(more <= mostMemory, "\(more) MB more")
        }

        /// Checks that most statuses are the expected status: under overload some requests are rejected.
        private static func expectMostly(_ wanted: Int, _ statuses: [Int: Int]) {
            expectMostly([wanted], statuses)
        }

        private static func expectMostly(_ wanted: Set<Int>, _ statuses: [Int: Int]) {
            let good = statuses.filter { wanted.contains($0.key) }.values.reduce(0, +)
            let all = statuses.values.reduce(0, +)
            #expect(good + statuses[503, default: 0] == all && good * 2 > all, "\(statuses)")
        }
    }

    /// Bytes and tokens that look like real ones.
    private enum SampleBytes {
        static func of(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7 &+ (number >> 8)) }
        }

        /// A JWT with an invented key ID, and a signature of the right length.
        static func token(_ number: Int) -> String {
            let header = #"{"alg":"RS256","kid":"key-\#(number)","typ":"JWT"}"#
            let claims = #"{"iss":"https://accounts.google.com","sub":"\#(number)"}"#
            let parts = [Array(header.utf8), Array(claims.utf8), of(number, 256)]
            return parts.map { Base64URL.encode($0) }.joined(separator: ".")
        }
    }
#endif
