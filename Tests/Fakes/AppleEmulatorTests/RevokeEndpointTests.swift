import AppleEmulator
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite(.apple()) struct RevokeEndpointTests {
    let apple = EmulatorUnderTest.current

    @Test func `ends the consent and all its tokens, with an empty response`() async throws {
        let first = try await apple.refreshToken()
        let web = #"{"code":true,"client_id":"com.example.app.web"}"#
        let second = try await apple.refreshToken(web, clientID: "com.example.app.web")
        let code = try await apple.code()
        let response = try await apple.revoke(first)
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(try await apple.refresh(first).error == "invalid_grant")
        let other = try await apple.refresh(second, ["client_id": "com.example.app.web"])
        #expect(other.error == "invalid_grant")
        #expect(try await apple.exchange(code).error == "invalid_grant")
        #expect(try apple.emulator.state.user(nil).apps.isEmpty)
        #expect(try await apple.counter("revocations") == 1)
        // The next sign-in is a first one again.
        #expect(try await apple.post("/emulator/identity-tokens").json["user"] != nil)
    }

    @Test func `accepts an access token too, with any hint`() async throws {
        let tokens = try await apple.exchange(apple.code()).json
        let access = tokens["access_token"]?.string ?? ""
        let fields = ["token": access, "token_type_hint": "refresh_token"]
        #expect(try await apple.call("/auth/revoke", fields).status == 200)
        #expect(try await apple.refresh(tokens["refresh_token"]?.string ?? "").error == "invalid_grant")
    }

    @Test func `an unknown token and a token of another client get the same response and change nothing`()
        async throws
    {
        let token = try await apple.refreshToken()
        for response in [
            try await apple.revoke("nonsense"),
            try await apple.revoke(token, clientID: "com.example.app.web"),
        ] {
            #expect(response.status == 200)
            #expect(response.body.isEmpty)
        }
        #expect(try await apple.refresh(token).status == 200)
        #expect(try await apple.counter("revocations") == 0)
        #expect(try await apple.counter("revoke_requests") == 2)
    }

    @Test func `revokes twice with the same response`() async throws {
        let token = try await apple.refreshToken()
        for _ in 0..<2 { #expect(try await apple.revoke(token).status == 200) }
        #expect(try await apple.counter("revocations") == 1)
    }

    @Test func `authenticates the client`() async throws {
        let token = try await apple.refreshToken()
        let response = try await apple.call("/auth/revoke", ["token": token, "client_secret": "x"])
        #expect(response.status == 400)
        #expect(response.error == "invalid_client")
        #expect(try await apple.call("/auth/revoke", [:]).error == "invalid_request")
        #expect(try await apple.refresh(token).status == 200)
    }
}

@Suite(.apple()) struct ClientSecretTests {
    let apple = EmulatorUnderTest.current

    /// A valid client secret, changed by `spoil`.
    private func secret(
        now: Int64, keyID: String? = TestKeys.clientKeyID, key: String = TestKeys.clientKeyPEM,
        algorithm: JWTSigner.Algorithm = .ES256, header: JSONObject = JSONObject(),
        _ spoil: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var claims = JSONObject([
            ("iss", .string(EmulatorUnderTest.teamID)), ("iat", .integer(now)), ("exp", .integer(now + 3600)),
            ("aud", "https://appleid.apple.com"), ("sub", .string(EmulatorUnderTest.clientID)),
        ])
        spoil(&claims)
        return try JWTSigner.sign(
            claims: claims, keyID: keyID, header: header, algorithm: algorithm, key: key)
    }

    /// The response to a valid secret with an unknown code.
    private func verdict(_ apple: EmulatorUnderTest, _ secret: String) async throws -> String? {
        try await apple.exchange("nonsense", ["client_secret": secret]).error
    }

    @Test func `accepts a secret in Apple's form`() async throws {
        #expect(try await verdict(apple, secret(now: apple.clock.seconds)) == "invalid_grant")
        let longest = try secret(now: apple.clock.seconds) {
            $0["exp"] = .integer(apple.clock.seconds + 15_777_000)
        }
        #expect(try await verdict(apple, longest) == "invalid_grant")
        let timeless = try secret(now: apple.clock.seconds) { $0["iat"] = nil }
        #expect(try await verdict(apple, timeless) == "invalid_grant")
        #expect(try await apple.counter("client_secrets_refused") == 0)
    }

    @Test(
        arguments: [
            ("iss", "TEAM000002"), ("iss", 1), ("iss", nil),
            ("sub", "com.example.app.web"), ("sub", nil), ("aud", "https://example.com"),
            ("aud", nil), ("iat", 1_700_000_001), ("iat", "1700000000"), ("iat", .null),
            ("iat", .integer(.max)),
            ("exp", 1_700_000_000), ("exp", .integer(1_700_000_000 + 15_777_001)), ("exp", nil),
            ("exp", .integer(.max)), ("exp", .integer(.min)),
        ] as [(String, JSONValue?)])
    func `refuses claims that Apple refuses`(name: String, value: JSONValue?) async throws {
        let secret = try secret(now: apple.clock.seconds) { $0[name] = value }
        let response = try await apple.exchange("nonsense", ["client_secret": secret])
        #expect(response.status == 400)
        #expect(response.error == "invalid_client")
        #expect(response.headers["content-type"] == ["application/json;charset=UTF-8"])
        #expect(try await apple.counter("client_secrets_refused") == 1)
        #expect(try await apple.counter("token_refusals") == 1)
    }

    @Test func `refuses a signature by another key, or with another key ID`() async throws {
        let now = apple.clock.seconds
        let stranger = try ECPrivateKey.generate().pem
        let crit = JSONObject([("crit", .array(["x"]))])
        for secret in [
            try secret(now: now, key: stranger), try secret(now: now, keyID: "OTHER00000"),
            try secret(now: now, keyID: nil), try secret(now: now, header: crit),
            try secret(now: now, key: "secret", algorithm: .HS256),
            try secret(now: now, key: try TestKeys.clientKey.publicKeyPEMText, algorithm: .HS256),
            try secret(now: now, key: "", algorithm: .none),
            try secret(now: now, key: RSAPrivateKey.generate().pem, algorithm: .RS256),
            try secret(now: now) + "A", "", "a.b.c", "..", String(repeating: "a", count: 5000),
        ] {
            let verdict = try await verdict(apple, secret)
            #expect(verdict == (secret.isEmpty ? "invalid_request" : "invalid_client"))
        }
    }

    @Test func `refuses a signature in DER, which is what libraries without JOSE write`() async throws {
        let segments = try secret(now: apple.clock.seconds).split(separator: ".").map(String.init)
        let raw = try #require(Base64URL.decode(segments[2]))
        let der = [0x30, 70, 0x02, 33, 0] + raw.prefix(32) + [0x02, 33, 0] + raw.suffix(32)
        let spoiled = "\(segments[0]).\(segments[1]).\(Base64URL.encode(der))"
        #expect(try await verdict(apple, spoiled) == "invalid_client")
    }

    @Test func `accepts several keys of a team during a rotation`() async throws {
        let made = try await apple.post("/emulator/teams/\(EmulatorUnderTest.teamID)/client-keys")
        #expect(made.status == 201)
        let (keyID, pem) = (try made.json["kid"]?.string, try made.json["private_key"]?.string)
        let now = apple.clock.seconds
        let new = try secret(now: now, keyID: keyID, key: try #require(pem))
        #expect(try await verdict(apple, new) == "invalid_grant")
        #expect(try await verdict(apple, secret(now: now)) == "invalid_grant")
        let path = "/emulator/teams/\(EmulatorUnderTest.teamID)/client-keys/\(TestKeys.clientKeyID)"
        let left = try await apple.send(.DELETE, path)
        #expect(try left.json["client_keys"]?.array?.map { $0["kid"]?.string } == [keyID])
        #expect(try await verdict(apple, secret(now: now)) == "invalid_client")
        #expect(try await verdict(apple, new) == "invalid_grant")
    }

    @Test(.apple { $0.clientKeys = [] })
    func `registers a public key from PEM and from a JWK`() async throws {
        let now = apple.clock.seconds
        #expect(try await verdict(apple, secret(now: now)) == "invalid_client")
        let key = try ECPrivateKey.generate()
        let path = "/emulator/teams/\(EmulatorUnderTest.teamID)/client-keys"
        let jwk = JSONValue.object(key.publicKey.jwk(keyID: "JWK0000001"))
        let body = #"{"jwk":\#(String(decoding: jwk.serialized(), as: UTF8.self))}"#
        let registered = try await apple.post(path, body)
        #expect(registered.status == 201)
        #expect(try registered.json["private_key"] == nil)
        let byJWK = try secret(now: now, keyID: "JWK0000001", key: key.pem)
        #expect(try await verdict(apple, byJWK) == "invalid_grant")
        let pem = TestKeys.clientKeyPEM.split(separator: "\n").joined(separator: #"\n"#)
        let response = try await apple.post(path, #"{"kid":"\#(TestKeys.clientKeyID)","pem":"\#(pem)\n"}"#)
        #expect(response.status == 201)
        #expect(try await verdict(apple, secret(now: now)) == "invalid_grant")
        #expect(try await apple.post(path, #"{"kid":"JWK0000001"}"#).code == "key_exists")
    }

    @Test(arguments: [
        #"{"kid":"short"}"#, #"{"kid":"abc123defg"}"#, #"{"pem":"x"}"#, #"{"jwk":{}}"#,
        #"{"jwk":{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}}"#,
    ])
    func `refuses keys in another format than Apple's`(body: String) async throws {
        let response = try await apple.post("/emulator/teams/TEAM000001/client-keys", body)
        #expect(response.status == 422)
        #expect(response.code == "client_key_refused")
    }

    @Test func `signs valid and invalid secrets`() async throws {
        let good = try await apple.post("/emulator/client-secrets?format=text").text
        #expect(try await verdict(apple, good) == "invalid_grant")
        for members in [
            #"{"time_offset":60}"#, #"{"time_offset":-7200}"#, #"{"lifetime":15777001}"#,
            #"{"client_id":"com.example.app.web"}"#,
        ] {
            let bad = try await apple.post("/emulator/client-secrets", members).json["client_secret"]?.string
            #expect(try await verdict(apple, try #require(bad)) == "invalid_client")
        }
        let response = try await apple.post("/emulator/client-secrets", #"{"kid":"NOBODYS000"}"#)
        #expect(response.status == 404)
        #expect(response.code == "key_not_found")
    }
}

extension ClientKey {
    /// SubjectPublicKeyInfo in PEM, for the attack that takes it as an HMAC secret.
    fileprivate var publicKeyPEMText: String {
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
            0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let text = Base64URL.encode(prefix + publicKey.x + publicKey.y)
        return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }
}
