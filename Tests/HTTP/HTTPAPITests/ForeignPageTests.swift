import Testing
import WebOrigins

/// Requests of a web page in a developer's browser to a service on the same machine.
@Suite struct ForeignPageTests {
    private static var inDevelopment: RunningService.Options {
        var options = RunningService.Options()
        options.foreignPages = ForeignPageCheck(hosts: AllowedHosts(["siwa.test"]))
        return options
    }

    @Test(arguments: [
        ("GET", "/health"), ("GET", "/v1/events"), ("POST", "/v1/sign-ins"), ("POST", "/v1/web/callback"),
        ("GET", "/v1/web/sign-in"),
    ])
    func `in development nothing is answered under a name that a page led here`(
        method: String, target: String
    )
        async throws
    {
        try await RunningService.with(Self.inDevelopment) { service in
            for host in ["attacker.example", "127.0.0.1.attacker.example:8080"] {
                let response = try await service.call(
                    method, target, body: method == "POST" ? "{}" : nil, fields: ["Host": host])
                #expect(response.status == 421)
                #expect(response.code == "host_refused")
            }
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1:8080", "siwa.test"])
    func `in development its own names are answered`(host: String) async throws {
        try await RunningService.with(Self.inDevelopment) { service in
            let response = try await service.call("GET", "/v1/events", fields: ["Host": host])
            #expect(response.status == 200)
        }
    }

    @Test(arguments: ["https://attacker.example", "null", "http://siwa.test:3000"])
    func `in development a page of another site changes nothing`(origin: String) async throws {
        try await RunningService.with(Self.inDevelopment) { service in
            for target in ["/v1/nonces", "/v1/sign-ins", "/v1/apple/notifications"] {
                let response = try await service.call("POST", target, body: "{}", fields: ["Origin": origin])
                #expect(response.status == 403)
                #expect(response.code == "origin_refused")
            }
            let erasure = try await service.call(
                "DELETE", "/v1/accounts/acc_1", fields: ["Origin": origin])
            #expect(erasure.status == 403)
        }
    }

    @Test func `Apple's page posts its form from Apple's site`() async throws {
        try await RunningService.with(Self.inDevelopment) { service in
            let response = try await service.call(
                "POST", "/v1/web/callback", body: "state=none", secret: nil,
                fields: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Origin": "https://appleid.apple.com",
                ])
            // It got as far as the state, which no flow has.
            #expect(response.status == 400)
        }
    }

    @Test func `a service behind proxies answers under every name`() async throws {
        try await RunningService.with { service in
            let fields = ["Host": "signin.example.com", "Origin": "https://example.com"]
            let health = try await service.call("GET", "/health", fields: fields)
            #expect(health.status == 200)
            let nonce = try await service.call("POST", "/v1/nonces", fields: fields)
            #expect(nonce.status == 201)
        }
    }
}
