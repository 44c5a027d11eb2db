import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import HTTPAPI
import HTTPEngine
import OAuthSamples
import StrictJSON
import Testing
import TokenMint

/// The endpoints of OAuth over HTTP: their errors, fields and documents.
@Suite(.service { $0.hasOAuth = true }) struct OAuthEndpointTests {
    let service = RunningService.current

    static let form = "application/x-www-form-urlencoded"

    static func post(
        _ service: RunningService, _ path: String, _ body: String, type: String = form,
        authorization: String? = nil
    ) async throws -> ProbeResponse {
        try await send("POST", path, body, type: type, authorization: authorization, service)
    }

    /// - Parameter body: Not sent with GET.
    static func send(
        _ method: String, _ path: String, _ body: String, type: String, authorization: String?,
        _ service: RunningService
    ) async throws -> ProbeResponse {
        var fields = ["Content-Type": type]
        fields["Authorization"] = authorization
        return try await service.call(
            method, path, body: method == "GET" ? nil : body, secret: nil, fields: fields)
    }

    /// Signs the sample user in and links the account with Google through App Flip.
    static func link(_ service: RunningService) async throws -> (accountID: String, tokens: JSONValue) {
        let signedIn = try await service.signIn()
        let id = try #require(signedIn.json?["account"]?["id"]?.string)
        let flip = try await service.post(
            "/v1/oauth/app-flip",
            body: Bodies.json([
                ("client_id", "google"), ("redirect_uri", .string(OAuthSample.appFlipURI)), ("state", "s"),
                ("scope", "openid email"), ("decision", "granted"), ("account_id", .string(id)),
            ]))
        #expect(flip.status == 200)
        #expect(flip.json?["outcome"]?.string == "code")
        let url = try #require(flip.json?["redirect_to"]?.string)
        let code = url.dropFirst(OAuthSample.appFlipURI.count + 6).prefix { $0 != "&" }
        let tokens = try await post(
            service, "/oauth/token",
            "grant_type=authorization_code&code=\(code)&redirect_uri=\(OAuthSample.appFlipURI)"
                + "&client_id=google&client_secret=\(OAuthSample.googleSecret)")
        #expect(tokens.status == 200)
        expect(tokens.fields, has: ["cache-control": "no-store", "pragma": "no-cache"])
        return (id, try #require(tokens.json))
    }

    static let paths = [
        ("POST", "/oauth/token"), ("POST", "/oauth/nonce"), ("POST", "/oauth/revoke"),
        ("POST", "/oauth/app-attest/challenges"), ("POST", "/oauth/app-attest/keys"),
        ("GET", "/oauth/revoke"),
        ("POST", "/oauth/introspect"), ("GET", "/oauth/userinfo"), ("POST", "/oauth/userinfo"),
        ("GET", "/oauth/jwks.json"), ("GET", "/v1/jwks.json"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/.well-known/openid-configuration"), ("GET", "/.well-known/risc-configuration"),
        ("GET", "/.well-known/apple-app-site-association"), ("GET", "/.well-known/assetlinks.json"),
        ("POST", "/v1/oauth/app-flip"),
        ("POST", "/v1/oauth/app-flip/prompt"),
        ("GET", "/v1/accounts/acc_1/grants"), ("DELETE", "/v1/accounts/acc_1/grants"),
        ("GET", "/account/connections"), ("POST", "/account/connections"),
        ("GET", "/oauth/logout"), ("POST", "/oauth/logout"),
        ("DELETE", "/v1/accounts/acc_1/grants/grt_1"),
        ("POST", "/v1/google/security-events"),
    ]

    @Test(.service())
    func `without OAuth clients nothing of it is there`() async throws {
        for (method, path) in Self.paths {
            let response = try await service.call(method, path, body: method == "POST" ? "x" : nil)
            #expect(response.status == 404, "\(method) \(path)")
            #expect(response.code == "not_found")
            #expect(try await service.call("PUT", path).status == 404, "\(path)")
        }
    }

    @Test(arguments: [true, false])
    func `a refusal says why in development only`(isDevelopment: Bool) async throws {
        var options = RunningService.Options()
        (options.hasOAuth, options.isDevelopment) = (true, isDevelopment)
        try await RunningService.with(options) { service in
            for (body, reason) in [
                ("client_id=desktop&grant_type=refresh_token&refresh_token=x", "token_unknown"),
                ("client_id=desktop&grant_type=x", "grant_type_unknown"),
                ("client_id=nobody&grant_type=x", "client_not_authenticated"),
                ("client_id=shop&client_secret=x&grant_type=x", "client_not_authenticated"),
            ] {
                let response = try await Self.post(service, "/oauth/token", body)
                let text = try #require(response.json?["error_description"]?.string)
                #expect(text.hasPrefix("\(reason): ") == isDevelopment, "\(text)")
            }
            let assertion =
                "client_id=google&client_secret=\(OAuthSample.googleSecret)&intent=get"
                + "&grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion="
            let refused = try await Self.post(service, "/oauth/token", assertion + "x")
            #expect(
                (refused.json?["error_description"]?.string?.hasPrefix("assertion_invalid: "))
                    == isDevelopment)
            let metrics = try await service.get("/metrics")
            for (client, reason, count) in [
                ("none", "client_not_authenticated", 1), ("shop", "client_not_authenticated", 1),
                ("google", "assertion_invalid", 1), ("google", "code_used", 0),
            ] {
                let series = "siwa_oauth_token_refusals_total{client=\"\(client)\",reason=\"\(reason)\"}"
                #expect(metrics.text.contains("\(series) \(count)\n"), "\(series)")
            }
        }
    }

    @Test func `a linked account is introspected, shown, refreshed, listed and unlinked`() async throws {
        let (id, tokens) = try await Self.link(service)
        let access = try #require(tokens["access_token"]?.string)
        let refresh = try #require(tokens["refresh_token"]?.string)
        expect(tokens, has: ["token_type": "Bearer", "expires_in": 3600])

        let key = "Bearer \(RunningService.secret)"
        let seen = try await Self.post(service, "/oauth/introspect", "token=\(access)", authorization: key)
        expect(seen.json, has: ["active": true, "sub": .string(id)])
        let limited = try await Self.post(
            service, "/oauth/introspect", "token=\(access)",
            authorization: "Bearer \(RunningService.limitedSecret)")
        #expect(limited.status == 200)
        #expect(limited.text == #"{"active":false}"#)
        let basic = "Basic " + Base64.encode(Array("google:\(OAuthSample.googleSecret)".utf8))
        let own = try await Self.post(service, "/oauth/introspect", "token=\(refresh)", authorization: basic)
        #expect(own.json?["active"]?.bool == true)

        let info = try await service.get("/oauth/userinfo", secret: access)
        #expect(info.json?["sub"]?.string == id)
        #expect(info.json?["email"]?.string != nil)
        let again = try await Self.post(
            service, "/oauth/token", "grant_type=refresh_token&refresh_token=\(refresh)",
            authorization: basic)
        #expect(again.status == 200)
        #expect(again.json?["refresh_token"] == nil)

        try await Self.expectUnlinking(of: id, service)
        let gone = try await Self.post(service, "/oauth/introspect", "token=\(access)", authorization: key)
        #expect(gone.json?["active"]?.bool == false)
        let refused = try await service.get("/oauth/userinfo", secret: access).expecting(401)
        #expect(refused["www-authenticate"]?.contains("invalid_token") == true)
        for secret in [access, refresh, OAuthSample.googleSecret] {
            #expect(!service.loggedText().contains(secret))
        }
    }

    /// Checks that the account's only grant is listed, and ends once.
    private static func expectUnlinking(of id: String, _ service: RunningService) async throws {
        let grants = try await service.get("/v1/accounts/\(id)/grants")
        let grant = try #require(grants.json?["grants"]?.array?.first)
        expect(grant, has: ["client_id": "google", "scope": "openid email"])
        let grantID = try #require(grant["id"]?.string)
        let hidden = try await service.get("/v1/accounts/\(id)/grants", secret: RunningService.limitedSecret)
        #expect(hidden.code == "account_not_found")
        let path = "/v1/accounts/\(id)/grants/\(grantID)"
        #expect(try await service.get(path).status == 405)
        let unlinked = try await service.call("DELETE", path).expecting(204)
        #expect(unlinked["content-length"] == nil)
        let feed = try await service.get("/v1/events")
        let events = feed.json?["events"]?.array ?? []
        let ended = try #require(events.first { $0["type"]?.string == "grant_revoked" })
        #expect(ended["reason"]?.string == "unlinked")
        #expect(ended["grant"]?["reason"]?.string == "unlinked")
        #expect(try await service.call("DELETE", path).code == "grant_not_found")
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "POST"
        var path = "/oauth/token"
        let body: String
        var type = form
        var authorization: String?
        let status: Int
        let error: String

        var testDescription: String { name }
    }

    private static func refresh(_ client: String) -> String { "\(client)&grant_type=refresh_token" }

    /// Forms for the token endpoint.
    private static let forms: [(name: String, body: String, status: Int, error: String)] = [
        ("no client", "grant_type=refresh_token", 401, "invalid_client"),
        ("unknown client", "client_id=x&client_secret=y", 401, "invalid_client"),
        ("wrong secret", refresh("client_id=shop&client_secret=y"), 401, "invalid_client"),
        ("a public client with a secret", "client_id=desktop&client_secret=x", 401, "invalid_client"),
        ("repeated parameter", "client_id=desktop&grant_type=a&grant_type=b", 400, "invalid_request"),
        ("unknown grant type", "client_id=desktop&grant_type=password", 400, "unsupported_grant_type"),
        (
            "assertion of another kind of client",
            "client_id=desktop&grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", 400,
            "unauthorized_client"
        ), ("unknown refresh token", refresh("client_id=desktop") + "&refresh_token=x", 400, "invalid_grant"),
        ("a body that is too large", String(repeating: "a", count: 65_537), 413, "invalid_request"),
    ]

    /// Forms for other endpoints.
    private static let others: [(name: String, path: String, body: String, status: Int, error: String)] = [
        ("a nonce for a client of the browser", "nonce", "client_id=desktop", 400, "unauthorized_client"),
        ("a nonce for an unknown client", "nonce", "client_id=x", 401, "invalid_client"),
        ("a nonce without a client", "nonce", "", 401, "invalid_client"),
        ("revocation without a client", "revoke", "token=x", 400, "invalid_request"),
        ("revocation without a token", "revoke", "client_id=desktop", 400, "invalid_request"),
        (
            "introspection by a public client", "introspect", "token=x&client_id=desktop", 401,
            "invalid_client"
        ), ("userinfo with a token that is none", "userinfo", "access_token=x", 401, "invalid_token"),
        ("userinfo with a token in the query", "userinfo?access_token=x", "", 400, "invalid_request"),
        (
            "secrets in the URL", "token?client_id=desktop", refresh("client_id=desktop"), 400,
            "invalid_request"
        ),
    ]

    /// Requests by GET.
    private static let reads = [("token", 405), ("revoke", 400), ("x", 404)]

    static var cases: [Case] {
        let forms = forms.map { Case(name: $0, body: $1, status: $2, error: $3) }
        let others = others.map { Case(name: $0, path: "/oauth/\($1)", body: $2, status: $3, error: $4) }
        let reads = reads.map {
            Case(
                name: "GET of \($0)", method: "GET", path: "/oauth/\($0)", body: "", status: $1,
                error: "invalid_request")
        }
        let more = [
            Case(
                name: "wrong secret by Basic", body: "grant_type=refresh_token",
                authorization: "Basic c2hvcDp4", status: 401, error: "invalid_client"),
            Case(
                name: "two ways at once", body: refresh("client_secret=shop-secret"),
                authorization: "Basic c2hvcDpzaG9wLXNlY3JldA==", status: 400, error: "invalid_request"),
            Case(name: "JSON", body: "{}", type: "application/json", status: 400, error: "invalid_request"),
            Case(
                name: "introspection with an unknown API key", path: "/oauth/introspect", body: "token=x",
                authorization: "Bearer siwa_x", status: 401, error: "invalid_client"),
        ]
        return forms + others + reads + more
    }

    @Test(arguments: cases)
    func `bad input has the standard's error, and no cache keeps it`(test: Case) async throws {
        let response = try await Self.send(
            test.method, test.path, test.body, type: test.type, authorization: test.authorization, service)
        #expect(response.status == test.status)
        expect(response.fields, has: ["content-type": "application/json", "cache-control": "no-store"])
        #expect(response.json?["error"]?.string == test.error)
        let text = try #require(response.json?["error_description"]?.string)
        #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
        let challenge = response["www-authenticate"]
        if test.authorization?.hasPrefix("Basic") == true, test.status == 401 {
            #expect(challenge?.hasPrefix("Basic ") == true)
        }
        if test.status == 405 { #expect(response["allow"] == "POST") }
        // No cause of a refusal leaves anything behind.
        let store = try #require(service.store as? any AuthorizationStore)
        #expect(try await store.signingKeys().isEmpty)
    }

    @Test func `revocation answers 200 also for what is unknown`() async throws {
        for token in ["x", "siwa_rt_x", "a.b.c"] {
            let response = try await Self.post(service, "/oauth/revoke", "token=\(token)&client_id=desktop")
            #expect(response.status == 200)
        }
        let (_, tokens) = try await Self.link(service)
        let access = try #require(tokens["access_token"]?.string)
        // Of another client: no effect.
        #expect(
            try await Self.post(service, "/oauth/revoke", "token=\(access)&client_id=desktop").status == 200)
        #expect(try await service.get("/oauth/userinfo", secret: access).status == 200)
        let own = "token=\(access)&client_id=google&client_secret=\(OAuthSample.googleSecret)"
        #expect(try await Self.post(service, "/oauth/revoke", own).status == 200)
        #expect(try await service.get("/oauth/userinfo", secret: access).status == 401)
    }

    @Test func `wrong secrets are slowed down and say for how long`() async throws {
        let body = "client_id=shop&client_secret=wrong&grant_type=refresh_token&refresh_token=x"
        for _ in 0..<10 {
            #expect(try await Self.post(service, "/oauth/token", body)["retry-after"] == nil)
        }
        let slowed = try await Self.post(service, "/oauth/token", body).expecting(401)
        #expect(slowed.json?["error"]?.string == "invalid_client")
        #expect(slowed["retry-after"] == "1")
    }

    /// The header field of a client that is not a trusted proxy is ignored.
    @Test(arguments: [true, false])
    func
        `a guesser who invents X-Forwarded-For is slowed down, and behind a trusted proxy each address alone`(
            isTrusted: Bool
        ) async throws
    {
        var options = RunningService.Options()
        options.hasOAuth = true
        if isTrusted { options.limits.trustedProxies = [try #require(AddressBlock("127.0.0.1"))] }
        try await RunningService.with(options) { service in
            @Sendable func ask(_ secret: String, from address: String?) async throws -> ProbeResponse {
                var fields = ["Content-Type": Self.form]
                fields["X-Forwarded-For"] = address
                return try await service.post(
                    "/oauth/token",
                    body: "client_id=shop&client_secret=\(secret)&grant_type=refresh_token&refresh_token=x",
                    secret: nil, fields: fields)
            }
            for number in 0..<12 { _ = try await ask("wrong", from: "198.51.100.\(number)") }
            let other = try await ask("wrong", from: "198.51.100.99")
            #expect((other["retry-after"] == nil) == isTrusted)
            // Without the field, a trusted proxy speaks for all whose address is not known.
            for _ in 0..<11 { _ = try await ask("wrong", from: nil) }
            #expect(try await ask("wrong", from: nil)["retry-after"] != nil)
            for address in ["198.51.100.1", nil] {
                let honest = try await ask(OAuthSample.shopSecret, from: address)
                #expect(honest.json?["error"]?.string == "invalid_grant")
            }
        }
    }

    @Test func `the documents are those of the issuer, and caches keep them for an hour`() async throws {
        _ = try await Self.link(service)
        for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
            let response = try await service.get(path, secret: nil)
            #expect(response["cache-control"] == "public, max-age=3600")
            #expect(response.json?["issuer"]?.string == OAuthSample.issuer)
            #expect(response.json?["token_endpoint"]?.string == OAuthSample.issuer + "/oauth/token")
            #expect(response.json?["code_challenge_methods_supported"] == .array(["S256"]))
            #expect(response.json?["authorization_response_iss_parameter_supported"]?.bool == true)
        }
        let risc = try await service.get("/.well-known/risc-configuration", secret: nil)
        #expect(risc.json?["jwks_uri"]?.string == OAuthSample.issuer + "/oauth/jwks.json")
        let keys = try await service.get("/oauth/jwks.json", secret: nil)
        let same = try await service.get("/v1/jwks.json", secret: nil)
        #expect(same.status == 200 && same.body == keys.body)
        #expect(keys["cache-control"] == "public, max-age=3600")
        let algorithms = keys.json?["keys"]?.array?.compactMap { $0["alg"]?.string } ?? []
        #expect(Set(algorithms) == ["ES256", "RS256"])
        #expect(!keys.text.contains("\"d\""))
        let site = try await service.get("/.well-known/apple-app-site-association", secret: nil)
        #expect(site["content-type"] == "application/json")
        // The configuration of the test does not name the Services ID as one.
        let apps = #"["A1B2C3D4E5.com.example.app","A1B2C3D4E5.com.example.web"]"#
        let expected =
            #"{"applinks":{"details":[{"appIDs":\#(apps),"# + #""components":[{"/":"/link/google/*"}]}]},"#
            + #""webcredentials":{"apps":\#(apps)}}"#
        #expect(site.text == expected)
        // No client has an Android app.
        #expect(try await service.get("/.well-known/assetlinks.json", secret: nil).status == 404)
    }

    @Test func `security events are answered as RFC 8935 says`() async throws {
        let claims = JSONObject([
            ("iss", "https://accounts.google.com/"),
            ("aud", .string(OAuthSample.googleClientID)), ("iat", .integer(TokenMint.sampleTime)),
            ("jti", "1"),
            (
                "events",
                .object(
                    JSONObject([
                        (
                            "https://schemas.openid.net/secevent/risc/event-type/verification",
                            ["state": "x"]
                        )
                    ]))
            ),
        ])
        let token = try TokenMint.shared.sign(claims)
        let path = "/v1/google/security-events"
        for _ in 0..<2 {
            #expect(try await Self.post(service, path, token, type: "application/secevent+jwt").status == 202)
        }
        let bad = try await Self.post(service, path, "x", type: "application/secevent+jwt").expecting(400)
        #expect(bad.json?["err"]?.string == "invalid_request")
        let json = try await Self.post(service, path, token, type: "application/json")
        #expect(json.json?["err"]?.string == "invalid_request")
    }

    /// A security event of Google with one event.
    private static func event(_ type: String, jti: String, _ event: JSONObject) throws -> String {
        try TokenMint.shared.sign(
            JSONObject([
                ("iss", "https://accounts.google.com/"),
                ("aud", .string(OAuthSample.googleClientID)), ("iat", .integer(TokenMint.sampleTime)),
                ("jti", .string(jti)),
                (
                    "events",
                    ["https://schemas.openid.net/secevent/\(type)": .object(event)]
                ),
            ]))
    }

    @Test func `the feed names the event of Google that ended a grant, and what found nothing is counted`()
        async throws
    {
        let (_, tokens) = try await Self.link(service)
        let refreshToken = try #require(tokens["refresh_token"]?.string)
        let digest = try #require(RefreshTokenText(parsing: refreshToken)).doubleSHA512
        let named = JSONObject([
            ("subject_type", "oauth_token"), ("token_type", "refresh_token"),
            ("token_identifier_alg", "hash_SHA512_double"),
            ("token", .string(Hexadecimal.encode(digest.bytes))),
        ])
        let stranger = JSONObject([
            ("iss", "https://accounts.google.com/"), ("sub", "g-9"),
        ])
        for (type, event) in [
            ("risc/event-type/account-disabled", JSONObject([("subject", .object(stranger))])),
            (
                "oauth/event-type/token-revoked",
                JSONObject([("subject", .object(named)), ("reason", "hijacking")])
            ),
        ] {
            let token = try Self.event(type, jti: type, event)
            let taken = try await Self.post(
                service, "/v1/google/security-events", token, type: "application/secevent+jwt")
            #expect(taken.status == 202)
        }
        let feed = try await service.get("/v1/events")
        let ended = try #require(feed.json?["events"]?.array?.last)
        #expect(ended["reason"]?.string == "google_revoked")
        expect(ended["grant"]?["google_event"], has: ["type": "token-revoked", "reason": "hijacking"])
        let metrics = try await service.get("/metrics").text
        for line in [
            #"siwa_google_events_received_total{result="applied"} 2"#,
            #"siwa_google_events_unmatched_total{kind="account-disabled"} 1"#,
            #"siwa_google_events_unmatched_total{kind="token-revoked"} 0"#,
        ] { #expect(metrics.contains("\n\(line)\n"), "\(line)") }
    }

    static let flips: [(String, Int, String)] = [
        (
            #"{"client_id":"google","state":"s","scope":"openid","decision":"denied"}"#, 400,
            "redirect_uri_mismatch"
        ),
        (
            #"{"redirect_uri":"https://evil.example/a/com.google.OPA","decision":"denied"}"#, 400,
            "redirect_uri_mismatch"
        ), (#"{"redirect_uri":7}"#, 400, "member_malformed"), (#"{"redirect":"x"}"#, 400, "member_unknown"),
    ]

    @Test(arguments: flips, ["/v1/oauth/app-flip", "/v1/oauth/app-flip/prompt"])
    func `an App Flip call without a URL is a problem`(
        flip: (body: String, status: Int, code: String), path: String
    ) async throws {
        let body =
            path.hasSuffix("prompt") ? flip.body.replacing(#","decision":"denied""#, with: "") : flip.body
        #expect(try await service.post(path, body: body).outcome == "\(flip.status) \(flip.code)")
    }

    @Test func `a prompt has the texts of the sheet for a key that sees the app, and leaves no trace`()
        async throws
    {
        let signedIn = try await service.signIn()
        let id = try #require(signedIn.json?["account"]?["id"]?.string)
        let link = [
            ("client_id", JSONValue.string("google")), ("redirect_uri", .string(OAuthSample.appFlipURI)),
            ("state", "s"), ("account_id", .string(id)),
        ]
        let path = "/v1/oauth/app-flip/prompt"
        let response = try await service.post(path, body: Bodies.json(link))
        #expect(response.json?["outcome"]?.string == "prompt")
        #expect(response.json?["prompt"]?["language"]?.string == "en")
        #expect(response["cache-control"] == "no-store")
        #expect(try await service.post(path, body: Bodies.json(link), secret: nil).status == 401)
        let limited = try await service.post(
            path, body: Bodies.json(link), secret: RunningService.limitedSecret)
        #expect(limited.code == "caller_forbidden")
        let bad = try await service.post(path, body: Bodies.json(link + [("scope", "admin")]))
        #expect(bad.json?["outcome"]?.string == "invalid_request")
        #expect(bad.json?["redirect_to"]?.string?.hasPrefix(OAuthSample.appFlipURI) == true)
        let grants = try await service.get("/v1/accounts/\(id)/grants")
        #expect(grants.json?["grants"]?.array == [])
        let metrics = try await service.get("/metrics").text
        for (outcome, count) in [("prompt", 1), ("invalid_request", 1), ("unrecoverable", 0)] {
            let labels = "client=\"google\",outcome=\"\(outcome)\""
            let line = "siwa_oauth_app_flip_prompts_total{\(labels)} \(count)\n"
            #expect(metrics.contains(line))
        }
    }

    @Test func `a key that is limited to other apps gets no URL`() async throws {
        let body = Bodies.json([
            ("client_id", "google"), ("redirect_uri", .string(OAuthSample.appFlipURI)),
            ("state", "s"), ("scope", "openid"), ("decision", "denied"),
        ])
        let response = try await service.post(
            "/v1/oauth/app-flip", body: body, secret: RunningService.limitedSecret)
        #expect(response.outcome == "403 caller_forbidden")
        let own = try await service.post("/v1/oauth/app-flip", body: body)
        #expect(own.json?["outcome"]?.string == "access_denied")
    }

    @Test func `tokens and App Flip calls are counted, and the changes of grants that wait`() async throws {
        _ = try await Self.link(service)
        let metrics = try await service.get("/metrics").text
        for line in [
            #"siwa_oauth_token_requests_total{client="google",grant="authorization_code",result="issued"} 1"#,
            #"siwa_oauth_token_requests_total{client="google",grant="refresh_token",result="issued"} 0"#,
            #"siwa_oauth_app_flips_total{client="google",outcome="code"} 1"#, "siwa_oauth_queue_depth 0",
        ] { #expect(metrics.contains("\n\(line)\n"), "\(line)") }
    }
}
