import Foundation
import Testing

#if os(Linux)
    /// Cost of any request without credentials for the service: no more processor time for each kilobyte than
    /// a notification of Apple, and in total no more than a few notifications. Otherwise one sender could
    /// keep an event loop busy with a few megabits a second, and no other client would get a response.
    @Suite(.serialized) struct RequestCostTests {
        /// Largest cost of a request, in notifications. In a release build a notification takes some 60
        /// microseconds, and no request may take a millisecond.
        static let mostNotifications = 16

        /// Compares processor times of the same process, so that the machine and the build do not matter.
        @Test func `no byte of a request without credentials costs more than one of a notification`()
            async throws
        {
            try await LinkedSystem.with(.sqlite) { system in
                let service = try await system.serve()
                let user = try system.makeUser()
                _ = try await service.link(.token(try await system.identityToken(of: user)))
                let payload = try await system.revocation(of: user)
                let notification = RequestFlood.post(
                    "/v1/apple/notifications", body: #"{"payload":"\#(payload)"}"#,
                    ["Content-Type: application/json"])
                let (port, process) = (service.port, service)
                // On a thread of its own, because it blocks.
                let costs = try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread {
                        continuation.resume(
                            with: Result {
                                let meter = CostMeter(caller: RequestFlood.Caller(port: port), process)
                                return (
                                    try meter.cost(of: notification, rounds: 40),
                                    try WorstRequests.all.map { ($0.name, try meter.cost(of: $0.text)) }
                                )
                            })
                    }
                }
                let (most, worst) = costs
                try #require(most.status == 200)
                for (name, cost) in worst {
                    #expect(
                        cost.perKilobyte <= most.perKilobyte
                            && cost.nanoseconds <= Self.mostNotifications * most.nanoseconds,
                        "\(name): \(cost), and a notification \(most)")
                    // A request that is turned away because of overload says nothing.
                    #expect(cost.status != 503, "\(name)")
                }
                if let path = ProcessInfo.processInfo.environment["SIWA_REQUEST_COSTS"] {
                    let lines = ([("notification", most)] + worst).map { "\($0.1) \($0.0)\n" }
                    try lines.joined().write(toFile: path, atomically: true, encoding: .utf8)
                }
                #expect(await service.stop() == 0)
            }
        }
    }

    /// Measures the processor time of requests.
    private struct CostMeter {
        let caller: RequestFlood.Caller
        let process: ServiceProcess

        struct Cost: Sendable, CustomStringConvertible {
            let status: Int
            let nanoseconds: Int
            let kilobytes: Double

            var perKilobyte: Double { Double(nanoseconds) / kilobytes }
            var description: String {
                "\(nanoseconds / 1000) us, \(Int(perKilobyte / 1000)) us/KB, status \(status)"
            }
        }

        init(caller: RequestFlood.Caller, _ process: ServiceProcess) {
            (self.caller, self.process) = (caller, process)
        }

        /// Returns the smallest cost of several rounds, because the process may do other work in some rounds.
        func cost(of request: String, rounds: Int = 3) throws -> Cost {
            let bytes = Array(request.utf8)
            var (least, status) = (Int.max, 0)
            for _ in 0..<rounds {
                let before = try process.processorNanoseconds()
                status = try caller.status(of: bytes)
                least = min(least, try process.processorNanoseconds() - before)
            }
            return Cost(status: status, nanoseconds: least, kilobytes: Double(bytes.count) / 1024)
        }
    }

    /// The most expensive requests to each public endpoint.
    private enum WorstRequests {
        typealias Named = (name: String, text: String)

        private static let form = "Content-Type: application/x-www-form-urlencoded"
        private static let json = "Content-Type: application/json"
        private static let posts: [(target: String, type: String)] = [
            ("/oauth/authorize", form), ("/oauth/authorize?\(request)", form), ("/oauth/token", form),
            ("/oauth/revoke", form), ("/oauth/introspect", form), ("/oauth/userinfo", form),
            ("/v1/web/callback", form),
            ("/v1/google/security-events", "Content-Type: application/secevent+jwt"),
            ("/v1/apple/notifications", json), ("/v1/sign-ins", json),
        ]
        private static let gets = [
            "/oauth/authorize", "/oauth/userinfo", "/oauth/revoke", "/oauth/jwks.json", "/v1/web/sign-in",
            "/v1/web/finish", "/.well-known/openid-configuration", "/livez", "/version", "/openapi.yaml",
            "/v1/accounts", "/unknown",
        ]
        private static let fields = [
            "Cookie", "Authorization", "User-Agent", "Accept-Language", "Content-Type", "If-None-Match",
            "X-Request-ID", "X-Forwarded-For", "Origin",
        ]
        private static let printable = (UInt8(0x20)...0x7E).map { String(UnicodeScalar($0)) }
        /// Characters with a meaning for a parser of bodies, URLs or header fields.
        private static let special = [
            "+", "%", "&", "=", ";", ",", "/", ".", ":", "\"", "\\", "a", "A", "0", "a=&", "a=b;", "%2B",
            "%41", "%00", "%E2%82%AC", "%CC%81", "[", "{\"a\":", "a,", "; wv)", "q=0.1,",
        ]
        private static let request = """
            client_id=\(LinkedClients.phones[0])&redirect_uri=\(LinkedClients.phoneURI)&response_type=code\
            &code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&state=
            """.replacingOccurrences(of: ":", with: "%3A")

        static let all = bodies + targets + headers

        private static let bodies: [Named] = posts.flatMap { target, type in
            let texts =
                printable.map { ("16 KB of \($0)", filled($0, 16_384)) }
                + special.flatMap { text in
                    [8192, 65_536].map { ("\($0) bytes of \(text)", filled(text, $0)) }
                }
                + ["state", "user", "scope", "token", "client_id", "redirect_uri"].flatMap { name in
                    ["+", "%2B", "%CC%81", "a"].map { text in
                        ("\(name)=, then 16 KB of \(text)", filled(text, 16_384, after: "\(name)="))
                    }
                } + [
                    ("64 long names", many(64, 255)), ("16 long names", many(16, 1000)),
                    ("{\"payload\": 64 KB", filled("[", 65_536, after: #"{"payload":"x","a":"#)),
                ]
            return texts.map { text in
                (
                    "POST \(target), \(text.0)",
                    RequestFlood.post(target, body: text.1, [type, "Origin: null"])
                )
            }
        }

        private static let targets: [Named] = gets.flatMap { target in
            (printable + special).filter { !$0.contains(where: { " #\"".contains($0) }) }.flatMap { text in
                ["?", "?state=", "?scope=", "?\(request)", "?client_id=", "?ticket=", "/"].map { mark in
                    let start = target + mark
                    return ("GET \(start) and \(text)", RequestFlood.get(filled(text, 15_000, after: start)))
                }
            }
        }

        private static let headers: [Named] = fields.flatMap { field in
            (printable + special).flatMap { text in
                ["/oauth/authorize?\(request)", "/oauth/userinfo", "/v1/web/finish?ticket=a"].map { target in
                    let line = filled(text, 15_000, after: "\(field): ")
                    return ("GET \(target), \(field) of \(text)", RequestFlood.get(target, [line]))
                }
            }
        }

        private static func filled(_ text: String, _ count: Int, after start: String = "") -> String {
            let room = count - start.utf8.count
            return start + String(repeating: text, count: room / text.utf8.count)
        }

        /// Names that differ at their ends only.
        private static func many(_ count: Int, _ length: Int) -> String {
            (0..<count).map { String(repeating: "n", count: length - 8) + "\(100 + $0)=v" }
                .joined(separator: "&")
        }
    }
#endif
