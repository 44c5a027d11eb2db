import AppleAccounts
import HTTPAPI
import Logging
import OAuthSamples
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Fields of requests in the log, and values that the log never has.
@Suite(.service()) struct RequestLogTests {
    let service = RunningService.current

    static let email = "q4zjk7x2rt@privaterelay.appleid.com"

    @Test func `a request is one line, with the route and not the path`() async throws {
        _ = try await service.get(
            "/v1/credentials/some.sub?client_id=\(TokenMint.clientID)", fields: ["X-Request-ID": "r1"])
        let lines = service.loggedText().split(separator: "\n").filter { $0.contains("request_id=r1") }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.hasPrefix("time=2026-01-01T00:01:00.000Z level=info msg=request method=GET "))
        #expect(line.contains(" route=/v1/credentials/{sub} status=200 duration_us="))
        #expect(line.hasSuffix(" request_id=r1 caller=backend"))
        #expect(!line.contains("some.sub"))
    }

    @Test func `a refusal has its code in the line`() async throws {
        _ = try await service.get("/v1/events", secret: nil)
        #expect(service.loggedText().contains("status=401"))
        #expect(service.loggedText().contains("code=caller_unauthenticated"))
    }

    @Test(.service(.init(logLevel: .trace)))
    func `nothing that is secret or personal is logged, whatever comes, even at trace`() async throws {
        let token = try Bodies.token()
        let notification = try Bodies.notification()
        let user = JSONValue.object(
            JSONObject([("name", ["firstName": "Zebedee"]), ("email", "zebedee@example.net")]))
        let body = Bodies.json([("identity_token", .string(token)), ("user", user), ("nonce", "n0nce")])
        for target in ["/v1/sign-ins", "/v1/identity-tokens/verify", "/v1/nonces", "/v1/\(token)"] {
            _ = try await service.post(target, body: body)
        }
        _ = try await service.post("/v1/apple/notifications", body: notification, secret: nil)
        _ = try await service.get("/v1/credentials/\(TokenMint.subject)?client_id=\(TokenMint.clientID)")
        _ = try await service.get("/v1/accounts?client_id=\(TokenMint.clientID)&sub=\(TokenMint.subject)")
        _ = try await service.get("/v1/events?after=\(Self.email)", fields: ["X-Secret": "header-value"])
        _ = try await service.call(Self.email, "/\(Self.email)", secret: "siwa_some_wrong_key")
        let log = service.loggedText()
        #expect(log.contains("route=/v1/sign-ins"))
        let secrets = [
            token, String(token.suffix(40)), TokenMint.subject, Self.email, "Zebedee", "example.net", "n0nce",
            RunningService.secret, "siwa_some_wrong_key", "header-value", "eyJ",
        ]
        for secret in secrets { #expect(!log.contains(secret)) }
    }

    @Test func `what a flood of requests without a caller writes is bounded`() async throws {
        let flood = 4000
        try await ProbeConnection.with(port: service.port) { connection in
            for number in 0..<flood / 4 {
                for (target, status) in [("/v1/events", 401), ("/x", 404), ("/livez", 200), ("/livez#", 400)]
                {
                    let fields = ["X-Request-ID": "r\(number)"]
                    try await connection.send(
                        RunningService.request("GET", target, secret: nil, fields: fields))
                    #expect(try await connection.response().status == status)
                }
            }
        }
        #expect(service.requestLines.count == 12)
        service.clock.advance(by: .milliseconds(500))
        _ = try await service.get("/v1/events?x=1", secret: RunningService.limitedSecret)
        service.clock.advance(by: .milliseconds(500))
        let lines = service.loggedText().split(separator: "\n")
        let sums = lines.filter { $0.contains("without a caller") }
        #expect(sums.count == 4)
        // A sum has the time of its line, not that of the requests.
        let times = lines.map { $0.prefix { $0 != " " } }
        #expect(times == times.sorted() && times.first != times.last)
        for name in [
            "code=caller_unauthenticated", "code=not_found", "route=/livez", "code=request_malformed",
        ] { #expect(sums.contains { $0.contains(" \(name) count=\(flood / 4)") }) }
        // Who is known is logged all the same, each time.
        for _ in 0..<20 { _ = try await service.get("/v1/events?x=1") }
        #expect(service.requestLines.count { $0.contains("caller=backend") } == 20)
        // In the next second there are samples again.
        _ = try await service.get("/v1/events", secret: "siwa_wrong", fields: ["X-Request-ID": "again"])
        #expect(
            service.requestLines.contains {
                $0.contains("request_id=again caller=none code=caller_unauthenticated")
            })
    }

    @Test(.service { $0.hasOAuth = true })
    func `requests of OAuth clients are logged with the client, each one when a secret proves it`()
        async throws
    {
        func ask(_ path: String, _ client: String, _ body: String = "token=x") async throws -> [Substring] {
            let before = service.requestLines.count
            for _ in 0..<6 { _ = try await OAuthEndpointTests.post(service, path, "\(client)&\(body)") }
            service.clock.advance(by: .seconds(1))
            return Array(service.requestLines.dropFirst(before))
        }
        let shop = "client_id=shop&client_secret=\(OAuthSample.shopSecret)"
        for (path, body) in [
            ("/oauth/token", "grant_type=refresh_token&refresh_token=x"), ("/oauth/token", "grant_type=x"),
            ("/oauth/introspect", "token=x"), ("/oauth/revoke", "token=x"),
        ] {
            let lines = try await ask(path, shop, body)
            #expect(lines.count { $0.contains(" oauth_client=shop") } == 6, "\(path) \(lines)")
        }
        // Anybody can name a client, so the number of these lines is bounded.
        for client in ["client_id=shop&client_secret=wrong", "client_id=desktop"] {
            let lines = try await ask("/oauth/token", client, "grant_type=refresh_token&refresh_token=x")
            #expect(lines.count == 3 && lines.allSatisfy { $0.contains(" oauth_client=") }, "\(lines)")
        }
        let invented = try await ask("/oauth/token", "client_id=invented.by.a.guesser&client_secret=x")
        #expect(invented.count == 3 && !invented.contains { $0.contains("client=") }, "\(invented)")
        let introspection = try await service.post(
            "/oauth/introspect", body: "token=x", fields: ["Content-Type": OAuthEndpointTests.form])
        #expect(introspection.status == 200)
        #expect(service.requestLines.last?.contains(" caller=backend") == true)
        for secret in [OAuthSample.shopSecret, "wrong", "invented"] {
            #expect(!service.loggedText().contains(secret))
        }
    }

    @Test(.service { $0.hasOAuth = true })
    func `a refused token request is logged with its grant type and reason, and without the token`()
        async throws
    {
        let shop = "client_id=shop&client_secret=\(OAuthSample.shopSecret)"
        for (body, fields) in [
            (
                "\(shop)&grant_type=refresh_token&refresh_token=x",
                "grant_type=refresh_token reason=token_unknown"
            ), ("\(shop)&grant_type=x", "code=unsupported_grant_type reason=grant_type_unknown"),
            (
                "\(shop)&grant_type=authorization_code&code=siwa_ac_x&redirect_uri=x",
                "code=invalid_grant grant_type=authorization_code reason=code_unknown"
            ), ("\(shop)&grant_type=refresh_token", "grant_type=refresh_token reason=request_malformed"),
        ] {
            _ = try await OAuthEndpointTests.post(service, "/oauth/token", body)
            let line = try #require(service.requestLines.last)
            #expect(line.contains(" oauth_client=shop ") && line.hasSuffix(fields), "\(line)")
            #expect(!line.contains("siwa_ac_"))
        }
        // A flood of anyone has one sum for each reason.
        for _ in 0..<20 {
            _ = try await OAuthEndpointTests.post(
                service, "/oauth/token", "client_id=desktop&grant_type=refresh_token&refresh_token=x")
        }
        service.clock.advance(by: .seconds(1))
        let sums = service.loggedText().split(separator: "\n").filter { $0.contains("without a caller") }
        #expect(sums.contains { $0.hasSuffix("code=invalid_grant reason=token_unknown count=20") }, "\(sums)")
    }

    @Test(.service { $0.oauth = { _ in } })
    func `authorization requests are logged with the client that they name`() async throws {
        for (query, field) in [
            (OAuthClients.shop, " oauth_client=shop"),
            ("client_id=google&redirect_uri=x", " oauth_client=google"),
        ] {
            _ = try await service.get("/oauth/authorize?\(query)", secret: nil)
            #expect(service.requestLines.last?.contains(field) == true)
        }
        for query in ["client_id=invented", "client_id=shop&client_id=shop", "x=\(WebVisitor.encode("%"))"] {
            _ = try await service.get("/oauth/authorize?\(query)", secret: nil)
            #expect(service.requestLines.last?.contains(" oauth_client=") == false)
        }
    }

    @Test func `an outage writes few lines about known callers, and their number`() async throws {
        let store = FailingStore(error: StorageError(.unavailable, detail: ""))
        try await RunningService.with(.init(store: store)) { service in
            for _ in 0..<200 {
                #expect(try await service.get("/v1/events").status == 503)
            }
            let failed = service.requestLines.filter { $0.contains("status=503") }
            #expect(failed.count == 3)
            #expect(failed.allSatisfy { $0.contains("caller=backend") })
            service.clock.advance(by: .seconds(1))
            _ = try await service.get("/v1/events")
            let sums = service.loggedText().split(separator: "\n").filter {
                $0.contains("msg=\"requests answered with 503\"")
            }
            #expect(sums.count == 1)
            #expect(sums.first?.contains("level=warning") == true)
            #expect(sums.first?.contains("status=503 code=storage_unavailable count=200") == true)
        }
    }

    @Test func `what Apple signed is logged each time`() async throws {
        let notification = try Bodies.notification()
        for _ in 0..<10 {
            let answer = try await service.post("/v1/apple/notifications", body: notification, secret: nil)
            #expect(answer.status == 200)
        }
        #expect(service.requestLines.count { $0.contains("route=/v1/apple/notifications") } == 10)
    }

    @Test func `what a flood was is said at the end of the service too`() async throws {
        let log = try await RunningService.with { service in
            for _ in 0..<10 { _ = try await service.get("/x", secret: nil) }
            return (service.log, service.sink)
        }
        log.1.flush()
        #expect(log.0.text.contains("msg=\"requests without a caller\" status=404 code=not_found count=10"))
    }

    @Test(.service(.init(logLevel: .warning)))
    func `above info requests are not logged`() async throws {
        _ = try await service.get("/livez")
        #expect(!service.loggedText().contains("msg=request"))
    }

    @Test func `the ID goes into answer, problem and log`() async throws {
        let answer = try await service.get("/nowhere", fields: ["X-Request-ID": "trace.42"])
        #expect(answer["x-request-id"] == "trace.42")
        #expect(answer.json?["request_id"]?.string == "trace.42")
        #expect(service.loggedText().contains("request_id=trace.42"))
        let other = try await service.get("/nowhere", fields: ["X-Request-ID": "no good"])
        let made = other["x-request-id"] ?? ""
        #expect(made.utf8.count == 13)
        #expect(other.json?["request_id"]?.string == made)
    }

    @Test(arguments: ["/livez", "/openapi.yaml", "/v1/events", "/nowhere"])
    func `every response names the version of the interface`(path: String) async throws {
        let answer = try await service.get(path)
        #expect(answer["siwa-api-version"] == "1")
    }
}

/// The requests that the console shows.
@Suite struct RecentRequestTests {
    @Test func `a refusal is kept with its check and the value that it found`() async throws {
        var options = RunningService.Options()
        let recent = RecentRequests(keepsExchanges: false)
        options.recent = recent
        // The token is good for a day.
        options.now = RunningService.now + 2 * 86_400_000
        try await RunningService.with(options) { service in
            _ = try await service.post(
                "/v1/sign-ins", body: Bodies.json([("identity_token", .string(try Bodies.token()))]),
                fields: ["X-Request-ID": "r1"])
            let request = try #require(recent.requests(withID: "r1").first)
            #expect(request.code == "token_expired")
            #expect(request.caller == "backend")
            #expect(request.refusal?.check.hasPrefix("expiration") == true)
            #expect(request.refusal?.found?.hasPrefix("exp=") == true)
            #expect(request.exchange == nil)
        }
    }

    @Test func `a flood that only names a client pushes out nothing of proven callers`() async throws {
        var options = RunningService.Options()
        let recent = RecentRequests(keepsExchanges: false)
        (options.recent, options.logLevel, options.hasOAuth) = (recent, .error, true)
        try await RunningService.with(options) { service in
            let shop = "client_id=shop&client_secret=\(OAuthSample.shopSecret)"
            let body = "grant_type=refresh_token&refresh_token=x"
            func ask(_ client: String, _ id: String) -> String {
                RunningService.request(
                    "POST", "/oauth/token", body: "\(client)&\(body)", secret: nil,
                    fields: ["Content-Type": OAuthEndpointTests.form, "X-Request-ID": id])
            }
            try await ProbeConnection.with(port: service.port) { connection in
                try await connection.send(ask(shop, "proven"))
                #expect(try await connection.response().status == 400)
                for number in 0..<600 {
                    try await connection.send(ask("client_id=shop&client_secret=wrong", "flood\(number)"))
                    _ = try await connection.response()
                }
            }
            let proven = try #require(recent.requests(withID: "proven").first)
            #expect(proven.client == "shop" && proven.isProven)
            let last = try #require(recent.requests(withID: "flood599").first)
            #expect(last.client == "shop" && !last.isProven)
            #expect(recent.all.count == RecentRequests.unknownBound + 1)
        }
    }

    @Test func `in development bodies are kept`() async throws {
        var options = RunningService.Options()
        let recent = RecentRequests(keepsExchanges: true)
        (options.recent, options.logLevel) = (recent, .error)
        try await RunningService.with(options) { service in
            _ = try await service.post(
                "/v1/sign-ins?x=1", body: #"{"identity_token":"a.b"}"#, fields: ["X-Request-ID": "r1"])
            let request = try #require(recent.requests(withID: "r1").first)
            let exchange = try #require(request.exchange)
            #expect(exchange.target == "/v1/sign-ins?x=1")
            #expect(exchange.body == Array(#"{"identity_token":"a.b"}"#.utf8))
            #expect(String(decoding: exchange.response, as: UTF8.self).contains("token_malformed"))
            #expect(exchange.location == nil)
        }
    }

    @Test func `in development a redirect is kept with its target`() async throws {
        var options = RunningService.Options.authorize
        let recent = RecentRequests(keepsExchanges: true)
        (options.recent, options.logLevel) = (recent, .error)
        try await RunningService.with(options) { service in
            let redirect = try await AuthorizeVisitor(service).authorize(OAuthClients.google)
            let location = try #require(redirect["location"])
            let exchange = try #require(recent.all.first?.exchange)
            #expect(exchange.location == location)
        }
    }
}
