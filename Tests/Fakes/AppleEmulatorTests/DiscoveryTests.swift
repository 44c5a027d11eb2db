import AppleEmulator
import NIOHTTP1
import StrictJSON
import Testing

@Suite struct DiscoveryTests {
    static let path = "/.well-known/openid-configuration"

    @Test func `names Apple's issuer, and the endpoints where the client reached it`() async throws {
        try await EmulatorUnderTest.run { apple in
            for host in ["127.0.0.1:\(apple.port)", "localhost:\(apple.port)"] {
                let response = try await apple.get(Self.path, headers: ["Host": host])
                #expect(response.status == 200)
                #expect(response.headers["content-type"] == ["application/json;charset=UTF-8"])
                #expect(
                    response.text == """
                        {"issuer":"https://appleid.apple.com",\
                        "authorization_endpoint":"http://\(host)/auth/authorize",\
                        "token_endpoint":"http://\(host)/auth/token",\
                        "revocation_endpoint":"http://\(host)/auth/revoke",\
                        "jwks_uri":"http://\(host)/auth/keys",\
                        "response_types_supported":["code"],\
                        "response_modes_supported":["query","fragment","form_post"],\
                        "subject_types_supported":["pairwise"],\
                        "id_token_signing_alg_values_supported":["RS256"],\
                        "scopes_supported":["openid","email","name"],\
                        "token_endpoint_auth_methods_supported":["client_secret_post"],\
                        "claims_supported":["aud","email","email_verified","exp","iat","is_private_email",\
                        "iss","nonce","nonce_supported","real_user_status","sub","transfer_sub"]}
                        """)
            }
        }
    }

    @Test func `names existing endpoints`() async throws {
        try await EmulatorUnderTest.run { apple in
            let document = try await apple.get(Self.path).json
            let base = "http://127.0.0.1:\(apple.port)"
            let keys = try #require(document["jwks_uri"]?.string)
            #expect(try await apple.get(String(keys.dropFirst(base.count))).json["keys"]?.array?.count == 3)
            let token = try #require(document["token_endpoint"]?.string)
            let fields = ["grant_type": "authorization_code", "code": try await apple.code()]
            #expect(try await apple.call(String(token.dropFirst(base.count)), fields).status == 200)
        }
    }

    @Test(arguments: ["evil.example/\"", "a b", "x@y", ""])
    func `puts only valid hosts into URLs`(host: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.get(Self.path, headers: ["Host": host])
            // Refused earlier, or answered with the address of the connection.
            guard response.status == 200 else { return }
            #expect(try response.json["jwks_uri"] == .string("http://127.0.0.1:\(apple.port)/auth/keys"))
        }
    }

    @Test func `applies a fault, and is counted`() async throws {
        try await EmulatorUnderTest.run { apple in
            let fault = #"{"status":503,"times":1}"#
            _ = try await apple.send(.PUT, "/emulator/faults/discovery", body: fault)
            #expect(try await apple.get(Self.path).status == 503)
            #expect(try await apple.get(Self.path).status == 200)
            #expect(try await apple.counter("discovery_requests") == 2)
            #expect(try await apple.counter("discovery_faults") == 1)
        }
    }

    @Test(arguments: [
        "/", "/site", "/auth/keys", "/emulator", "/emulator/users", "/emulator/counters", path,
        EmulatorUnderTest.authorizeQuery(),
    ])
    func `answers HEAD where it answers GET, without the body`(path: String) async throws {
        try await EmulatorUnderTest.run {
            $0.apps[0].redirectURIs = [EmulatorUnderTest.redirectURI]
        } _: { apple in
            let (full, head) = (try await apple.get(path), try await apple.send(.HEAD, path))
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.headers["content-type"] == full.headers["content-type"])
        }
    }

    /// A body after the response head would be read as the next response on the connection.
    @Test(arguments: ["/nothing", "/auth/token", "/emulator/reset", "/emulator/users/nobody"])
    func `refuses HEAD without a body, too`(path: String) async throws {
        try await EmulatorUnderTest.run { apple in
            for _ in 0..<3 {
                let response = try await apple.send(.HEAD, path)
                #expect(response.status == 404)
                #expect(response.body.isEmpty)
                #expect(response.headers["content-type"] == ["application/problem+json"])
                #expect(try await apple.get("/auth/keys").status == 200)
            }
        }
    }
}
