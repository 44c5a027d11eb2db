import Dispatch
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import Synchronization
import Testing

@testable import AppleEmulator

@Suite(.apple()) struct KeySetTests {
    let apple = EmulatorUnderTest.current

    @Test func `serves the keys with exactly Apple's members`() async throws {
        let response = try await apple.get("/auth/keys")
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == ["application/json;charset=UTF-8"])
        let keys = try #require(try response.json["keys"]?.array)
        #expect(try response.json.object?.members.map(\.name) == ["keys"])
        #expect(Set(keys.compactMap { $0["kid"]?.string }) == Set(TestKeys.keyIDs))
        for key in keys {
            #expect(key.object?.members.map(\.name) == ["kty", "kid", "use", "alg", "n", "e"])
            #expect(key["kty"] == "RSA")
            #expect(key["use"] == "sig")
            #expect(key["alg"] == "RS256")
            #expect(key["e"] == "AQAB")
            #expect(Base64URL.decode(key["n"]?.string ?? "")?.count == 256)
        }
    }

    @Test func `shuffles the keys from call to call`() async throws {
        var orders: Set<[String]> = []
        for _ in 0..<40 { orders.insert(try await apple.publishedKeyIDs()) }
        #expect(orders.count > 1)
    }

    @Test func `makes keys with opaque IDs when none are given`() async throws {
        try await EmulatorUnderTest.run { configuration in
            configuration.keys = []
            configuration.keyCount = 2
        } _: { apple in
            let keyIDs = try await apple.publishedKeyIDs()
            #expect(Set(keyIDs).count == 2)
            #expect(keyIDs.allSatisfy { (6...10).contains($0.utf8.count) })
        }
    }

    @Test func `generates each key once, however many first requests need it`() async throws {
        try await EmulatorUnderTest.run { configuration in
            configuration.keys = []
            configuration.keyCount = 2
        } _: { apple in
            async let tags = withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<4 { group.addTask { try await apple.get("/auth/keys").headers["etag"].first } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            // No key set has been sent when the first of these tokens needs its key.
            let tokens = try await withThrowingTaskGroup(of: ReadToken.self) { group in
                for _ in 0..<8 { group.addTask { try await apple.mint() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(try await tags.count == 1)
            for token in tokens { #expect(try await apple.isValid(token)) }
        }
    }

    @Test func `signs with a key that no request for the keys has needed before`() async throws {
        try await EmulatorUnderTest.run {
            $0.keys = []
        } _: { apple async throws in
            #expect(try await apple.isValid(try await apple.mint()))
        }
    }

    /// More callers wait than there are threads for tasks, so a wait that blocks its thread stops the test.
    @Test(.timeLimit(.minutes(1)))
    func `callers that wait for a key leave the threads to other tasks`() async throws {
        let mayEnd = DispatchSemaphore(value: 0)
        let generations = Mutex(0)
        let key = DeferredKey {
            generations.withLock { $0 += 1 }
            mayEnd.wait()
            return try RSAPrivateKey.generate(bits: 2048)
        }
        let (waiting, callers) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: RSAPrivateKey.self) { group in
            for _ in 0..<256 {
                group.addTask {
                    callers.yield()
                    return try await key.value
                }
            }
            for await _ in waiting.prefix(256) {}
            mayEnd.signal()
            let keys = try await group.reduce(into: Set()) { $0.insert($1.pem) }
            #expect(keys.count == 1)
        }
        #expect(generations.withLock { $0 } == 1)
    }

    @Test func `a key that OpenSSL cannot generate is an error of the fake, and the next use tries again`()
        async throws
    {
        let isBroken = Mutex(true)
        try await EmulatorUnderTest.run { configuration in
            configuration.keys = [
                SigningKey(
                    keyID: "broken",
                    DeferredKey {
                        if isBroken.withLock({ $0 }) { throw JOSEError(.signingFailed, detail: "no memory") }
                        return try RSAPrivateKey.generate(bits: 2048)
                    })
            ]
        } _: { apple in
            for response in [
                try await apple.post("/emulator/identity-tokens"), try await apple.get("/auth/keys"),
            ] {
                #expect(response.status == 500)
                #expect(response.code == "key_generation_failed")
            }
            isBroken.withLock { $0 = false }
            #expect(try await apple.isValid(try await apple.mint()))
        }
    }

    @Test func `answers 304 to its own entity tag, whatever the order`() async throws {
        let tag = try #require(try await apple.get("/auth/keys").headers["etag"].first)
        for header in [tag, "\"other\", \(tag)", "*", String(tag.dropFirst(2))] {
            let response = try await apple.get("/auth/keys", headers: ["If-None-Match": header])
            #expect(response.status == 304)
            #expect(response.body.isEmpty)
            #expect(response.headers["etag"] == [tag])
        }
        #expect(try await apple.get("/auth/keys", headers: ["If-None-Match": "\"other\""]).status == 200)
        #expect(try await apple.counter("key_set_not_modified") == 4)
    }

    @Test func `changes the entity tag with the keys`() async throws {
        let before = try await apple.get("/auth/keys").headers["etag"]
        #expect(try await apple.send(.DELETE, "/emulator/keys/\(TestKeys.keyIDs[0])").status == 200)
        let tag = try #require(before.first)
        let after = try await apple.get("/auth/keys", headers: ["If-None-Match": tag])
        #expect(after.status == 200)
        #expect(after.headers["etag"] != before)
    }

    @Test(arguments: [nil, "max-age=60", "no-store, no-cache"])
    func `sends the configured Cache-Control`(cacheControl: String?) async throws {
        try await EmulatorUnderTest.run {
            $0.cacheControl = cacheControl
        } _: { apple async throws in
            #expect(try await apple.get("/auth/keys").headers["cache-control"].first == cacheControl)
        }
    }

    @Test(.apple { $0.sendsEntityTag = false })
    func `sends no entity tag when told not to`() async throws {
        let response = try await apple.get("/auth/keys", headers: ["If-None-Match": "*"])
        #expect(response.status == 200)
        #expect(response.headers["etag"].isEmpty)
    }

    @Test func `counts every request for the keys`() async throws {
        for _ in 0..<3 { _ = try await apple.get("/auth/keys") }
        #expect(try await apple.counter("key_set_requests") == 3)
        #expect(apple.emulator.state.counters.keySetRequests == 3)
        let text = try await apple.get("/emulator/counters?format=text").text
        #expect(text.split(separator: "\n").contains("key_set_requests 3"))
        #expect(try await apple.send(.DELETE, "/emulator/counters").status == 200)
        #expect(try await apple.counter("key_set_requests") == 0)
    }
}

@Suite(.apple()) struct KeyRotationTests {
    let apple = EmulatorUnderTest.current

    @Test func `adds a key that is published and signs`() async throws {
        let response = try await apple.post("/emulator/keys", #"{"kid":"newcomer"}"#)
        #expect(response.status == 201)
        #expect(try response.json["kid"] == "newcomer")
        #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs + ["newcomer"]))
        #expect(try await apple.isValid(try await apple.mint(#"{"kid":"newcomer"}"#)))
    }

    @Test func `adds a key that signs before it is published`() async throws {
        _ = try await apple.post("/emulator/keys", #"{"kid":"early","published":false}"#)
        #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs))
        for keyID in TestKeys.keyIDs { _ = try await apple.send(.DELETE, "/emulator/keys/\(keyID)") }
        #expect(try await apple.mint().header["kid"] == "early")
    }

    @Test func `a retired key is not published, and signs only on request`() async throws {
        let retired = TestKeys.keyIDs[0]
        #expect(try await apple.send(.DELETE, "/emulator/keys/\(retired)").status == 200)
        #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs.dropFirst()))
        for _ in 0..<30 {
            #expect(try await apple.emulator.state.mint(IdentityTokenRecipe()).keyID != retired)
        }
        let token = try await apple.mint(#"{"kid":"\#(retired)"}"#)
        let key = try await TestKeys.keys()[0].privateKey.publicJWK(keyID: retired)
        #expect(token.header["kid"] == .string(retired))
        #expect(try token.isSigned(by: .object(key)))
    }

    @Test func `replaces all keys by as many new ones`() async throws {
        let before = try await apple.mint()
        let response = try await apple.post("/emulator/keys/rotate?format=text")
        let published = try await apple.publishedKeyIDs()
        #expect(published.count == 3)
        #expect(Set(published).isDisjoint(with: TestKeys.keyIDs))
        #expect(Set(response.text.split(separator: "\n").map(String.init)) == Set(published))
        #expect(try await apple.isValid(before) == false)
        #expect(try await apple.isValid(try await apple.mint()))
        _ = try await apple.post("/emulator/reset")
        #expect(try await apple.isValid(before))
    }

    @Test func `publishes a key, lets it sign, and retires the oldest, as Apple does`() async throws {
        for round in 0..<2 {
            let before = try await apple.keyUses()
            let oldest = try #require(before.first { $0.published }?.keyID)
            let first = try await apple.post("/emulator/keys/rotate", #"{"mode":"apple"}"#)
            let keyID = try #require(try first.json["kid"]?.string)
            #expect(try first.json["step"] == "publish")
            #expect(try await apple.publishedKeyIDs().contains(keyID))
            // Clients have time to fetch it: nothing is signed with it yet.
            #expect(try await apple.signers().contains(keyID) == false)

            let second = try await apple.post("/emulator/keys/rotate?format=text", #"{"mode":"apple"}"#)
            #expect(second.text == "sign \(keyID)")
            #expect(try await apple.signers() == Set(before.filter(\.signs).map(\.keyID) + [keyID]))
            #expect(try await apple.isValid(apple.mint(#"{"kid":"\#(keyID)"}"#)))

            let third = try await apple.post("/emulator/keys/rotate", #"{"mode":"apple"}"#)
            #expect(try third.json["step"] == "retire")
            #expect(try third.json["kid"] == .string(oldest))
            #expect(try await Set(apple.publishedKeyIDs()).count == 3)
            #expect(try await !apple.publishedKeyIDs().contains(oldest))
            #expect(try await apple.signers().contains(oldest) == false)
            #expect(try third.json["keys"]?.array?.count == 4 + round)
        }
    }

    @Test func `changes what a key is used for`() async throws {
        _ = try await apple.post("/emulator/keys", #"{"kid":"next","signs":false}"#)
        #expect(try await apple.signers().contains("next") == false)
        let path = "/emulator/keys/next"
        #expect(try await apple.send(.PUT, path, body: #"{"signs":true}"#).status == 200)
        #expect(try await apple.signers().contains("next"))
        _ = try await apple.send(.PUT, path, body: #"{"published":false}"#)
        #expect(try await apple.signers().contains("next"))
        #expect(try await apple.publishedKeyIDs().contains("next") == false)
        #expect(try await apple.send(.PUT, "/emulator/keys/nobody", body: "{}").code == "key_not_found")
        let unknown = try await apple.post("/emulator/keys/rotate", #"{"mode":"slowly"}"#)
        #expect(unknown.code == "member_malformed")
    }

    @Test func `shows what each key is used for`() async throws {
        let keys = try await apple.send(.DELETE, "/emulator/keys/\(TestKeys.keyIDs[1])").json["keys"]?.array
        #expect(keys?.map { $0["published"] } == [true, false, true])
        #expect(keys?.map { $0["signs"] } == [true, false, true])
    }

    @Test func `refuses to sign without a key`() async throws {
        for keyID in TestKeys.keyIDs { _ = try await apple.send(.DELETE, "/emulator/keys/\(keyID)") }
        let response = try await apple.post("/emulator/identity-tokens")
        #expect(response.status == 409)
        #expect(response.code == "no_signing_key")
        #expect(try await apple.publishedKeyIDs().isEmpty)
    }

    @Test func `refuses keys that exist, and to retire one that does not`() async throws {
        let taken = try await apple.post("/emulator/keys", #"{"kid":"\#(TestKeys.keyIDs[0])"}"#)
        #expect(taken.code == "key_exists")
        #expect(try await apple.send(.DELETE, "/emulator/keys/nobody").code == "key_not_found")
    }
}

extension EmulatorUnderTest {
    fileprivate func keyUses() async throws -> [(keyID: String, published: Bool, signs: Bool)] {
        emulator.state.keys.map { ($0.key.keyID, $0.isPublished, $0.signs) }
    }

    /// The key IDs of enough tokens to include every signing key.
    fileprivate func signers() async throws -> Set<String> {
        var keyIDs: Set<String> = []
        for _ in 0..<60 { keyIDs.insert(try await emulator.state.mint(IdentityTokenRecipe()).keyID) }
        return keyIDs
    }
}

@Suite(.apple()) struct DiscoveryTests {
    let apple = EmulatorUnderTest.current

    static let path = "/.well-known/openid-configuration"

    @Test func `names Apple's issuer, and the endpoints where the client reached it`() async throws {
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

    @Test func `names existing endpoints`() async throws {
        let document = try await apple.get(Self.path).json
        let base = "http://127.0.0.1:\(apple.port)"
        let keys = try #require(document["jwks_uri"]?.string)
        #expect(try await apple.get(String(keys.dropFirst(base.count))).json["keys"]?.array?.count == 3)
        let token = try #require(document["token_endpoint"]?.string)
        let fields = ["grant_type": "authorization_code", "code": try await apple.code()]
        #expect(try await apple.call(String(token.dropFirst(base.count)), fields).status == 200)
    }

    @Test(arguments: ["evil.example/\"", "a b", "x@y", ""])
    func `puts only valid hosts into URLs`(host: String) async throws {
        let response = try await apple.get(Self.path, headers: ["Host": host])
        // Refused earlier, or answered with the address of the connection.
        guard response.status == 200 else { return }
        #expect(try response.json["jwks_uri"] == .string("http://127.0.0.1:\(apple.port)/auth/keys"))
    }

    @Test func `applies a fault, and is counted`() async throws {
        let fault = #"{"status":503,"times":1}"#
        _ = try await apple.send(.PUT, "/emulator/faults/discovery", body: fault)
        #expect(try await apple.get(Self.path).status == 503)
        #expect(try await apple.get(Self.path).status == 200)
        #expect(try await apple.counter("discovery_requests") == 2)
        #expect(try await apple.counter("discovery_faults") == 1)
    }

    @Test(
        .apple { $0.apps[0].redirectURIs = [EmulatorUnderTest.redirectURI] },
        arguments: [
            "/", "/site", "/auth/keys", "/emulator", "/emulator/users", "/emulator/counters", path,
            EmulatorUnderTest.authorizeQuery(),
        ])
    func `answers HEAD where it answers GET, without the body`(path: String) async throws {
        let (full, head) = (try await apple.get(path), try await apple.send(.HEAD, path))
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.headers["content-type"] == full.headers["content-type"])
    }

    /// A body after the response head would be read as the next response on the connection.
    @Test(arguments: ["/nothing", "/auth/token", "/emulator/reset", "/emulator/users/nobody"])
    func `refuses HEAD without a body, too`(path: String) async throws {
        for _ in 0..<3 {
            let response = try await apple.send(.HEAD, path)
            #expect(response.status == 404)
            #expect(response.body.isEmpty)
            #expect(response.headers["content-type"] == ["application/problem+json"])
            #expect(try await apple.get("/auth/keys").status == 200)
        }
    }
}
