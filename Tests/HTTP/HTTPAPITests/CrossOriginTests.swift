import Encodings
import StrictJSON
import Testing

/// Responses that a script of any web page may read (Fetch §3.2), and responses that it may not read.
@Suite(.service { $0.hasOAuth = true }) struct CrossOriginTests {
    let service = RunningService.current

    private static let page = ["Origin": "https://shop.example.com"]
    private static let readable = [
        "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/oauth/jwks.json",
        "/oauth/userinfo",
    ]

    @Test(arguments: readable)
    func `a page of any origin reads it, without the browser's credentials`(path: String) async throws {
        let response = try await service.get(path, secret: nil, fields: Self.page)
        // Without a token userinfo refuses, and the page can read why.
        #expect(response.status == (path == "/oauth/userinfo" ? 401 : 200))
        #expect(response["access-control-allow-origin"] == "*")
        #expect(response["access-control-allow-credentials"] == nil)
        #expect(response["access-control-expose-headers"]?.contains("www-authenticate") == true)
        let head = try await service.call("HEAD", path, secret: nil, fields: Self.page)
        #expect(head["access-control-allow-origin"] == "*")
    }

    @Test(arguments: readable)
    func `a browser that asks before is told the same`(path: String) async throws {
        let fields = Self.page.merging([
            "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization",
        ]) { $1 }
        let response = try await service.call("OPTIONS", path, secret: nil, fields: fields).expecting(204)
        #expect(response.text.isEmpty)
        #expect(response["access-control-allow-origin"] == "*")
        #expect(response["access-control-allow-methods"] == "GET, POST")
        #expect(response["access-control-allow-headers"] == "authorization, content-type")
        #expect(response["access-control-allow-credentials"] == nil)
        let other = try await service.call("PUT", path, secret: nil)
        #expect(other.status == 405)
        #expect(other["allow"]?.hasSuffix(", OPTIONS") == true)
    }

    @Test func `userinfo is read with a token of the page`() async throws {
        let (id, tokens) = try await OAuthEndpointTests.link(service)
        let access = try #require(tokens["access_token"]?.string)
        for method in ["GET", "POST"] {
            let response = try await service.call(
                method, "/oauth/userinfo", secret: access, fields: Self.page)
            #expect(response.status == 200)
            #expect(response.json?["sub"]?.string == id)
            expect(response.fields, has: ["access-control-allow-origin": "*", "cache-control": "no-store"])
        }
    }

    @Test(
        .service(.init(oauth: { _ in })) { $0.hasOAuth = true },
        arguments: [
            ("POST", "/oauth/token"), ("POST", "/oauth/revoke"), ("POST", "/oauth/introspect"),
            ("GET", "/oauth/authorize"), ("GET", "/.well-known/risc-configuration"),
            ("GET", "/.well-known/apple-app-site-association"), ("GET", "/.well-known/assetlinks.json"),
            ("GET", "/v1/events"), ("POST", "/v1/sign-ins"), ("GET", "/health"), ("GET", "/openapi.yaml"),
            ("GET", "/metrics"), ("GET", "/nothing"),
        ])
    func `no page reads anything else`(method: String, path: String) async throws {
        let response = try await service.call(
            method, path, body: method == "POST" ? "x=1" : nil, fields: Self.page)
        #expect(response["access-control-allow-origin"] == nil)
        let preflight = try await service.call("OPTIONS", path, secret: nil, fields: Self.page)
        #expect(preflight.status == (path == "/nothing" ? 404 : 405))
        #expect(preflight["access-control-allow-origin"] == nil)
    }

    @Test(.service())
    func `without OAuth clients there is nothing to ask for`() async throws {
        for path in Self.readable {
            #expect(try await service.call("OPTIONS", path, secret: nil).status == 404)
        }
    }

    @Test(
        .service {
            $0.hasOAuth = true; $0.foreignPages = ForeignPageCheck(hosts: AllowedHosts(["siwa.test"]))
        })
    func `in development the names of the service count here too`() async throws {
        let fields = Self.page.merging(["Host": "siwa.test"]) { $1 }
        let asked = try await service.call("OPTIONS", "/oauth/userinfo", secret: nil, fields: fields)
        #expect(asked.status == 204)
        #expect(try await service.post("/oauth/userinfo", secret: "x", fields: fields).status == 401)
        let led = Self.page.merging(["Host": "attacker.example"]) { $1 }
        for method in ["GET", "OPTIONS", "POST"] {
            let response = try await service.call(method, "/oauth/userinfo", secret: nil, fields: led)
            #expect(response.status == 421, "\(method)")
        }
    }
}

/// Requests of a web page in a developer's browser to a service on the same machine.
@Suite(.service { $0.foreignPages = ForeignPageCheck(hosts: AllowedHosts(["siwa.test"])) })
struct ForeignPageTests {
    let service = RunningService.current

    @Test(arguments: [
        ("GET", "/health"), ("GET", "/v1/events"), ("POST", "/v1/sign-ins"), ("POST", "/v1/web/callback"),
        ("GET", "/v1/web/sign-in"),
    ]) func `in development nothing is answered under a name that a page led here`(
        method: String, target: String
    ) async throws {
        for host in ["attacker.example", "127.0.0.1.attacker.example:8080"] {
            let response = try await service.call(
                method, target, body: method == "POST" ? "{}" : nil, fields: ["Host": host])
            #expect(response.outcome == "421 host_refused")
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1:8080", "siwa.test"])
    func `in development its own names are answered`(host: String) async throws {
        #expect(try await service.get("/v1/events", fields: ["Host": host]).status == 200)
    }

    @Test(arguments: ["https://attacker.example", "null", "http://siwa.test:3000"])
    func `in development a page of another site changes nothing`(origin: String) async throws {
        for target in ["/v1/nonces", "/v1/sign-ins", "/v1/apple/notifications"] {
            let response = try await service.post(target, body: "{}", fields: ["Origin": origin])
            #expect(response.outcome == "403 origin_refused")
        }
        let erasure = try await service.call("DELETE", "/v1/accounts/acc_1", fields: ["Origin": origin])
        #expect(erasure.status == 403)
    }

    @Test func `Apple's page posts its form from Apple's site`() async throws {
        let response = try await service.post(
            "/v1/web/callback", body: "state=none", secret: nil,
            fields: [
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": "https://appleid.apple.com",
            ])
        // It got as far as the state, which no flow has.
        #expect(response.status == 400)
    }

    @Test(.service())
    func `a service behind proxies answers under every name`() async throws {
        let fields = ["Host": "signin.example.com", "Origin": "https://example.com"]
        #expect(try await service.get("/health", fields: fields).status == 200)
        #expect(try await service.post("/v1/nonces", fields: fields).status == 201)
    }
}
