import AppleEmulator
import JOSE
import Testing

@Suite struct ForgeryTests {
    @Test(arguments: ["tampered", "wrong_key", "other_key", "other_claims"])
    func `spoils the signature`(kind: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"signature":"\#(kind)","claims":{"sub":"somebody"}}"#)
            #expect(TestKeys.keyIDs.contains(token.header["kid"]?.string ?? ""))
            #expect(token.header["alg"] == .string("RS256"))
            #expect(token.claims["sub"] == .string("somebody"))
            #expect(token.signature.count == 256)
            #expect(try await apple.isValid(token) == false)
        }
    }

    @Test func `signs with another published key than the header names`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"signature":"other_key"}"#)
            let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
            let signers = try keys.filter { try token.isSigned(by: $0) }
            #expect(signers.count == 1)
            #expect(signers[0]["kid"] != token.header["kid"])
        }
    }

    @Test func `signs with a key that was never published`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"signature":"wrong_key"}"#)
            let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
            #expect(try keys.filter { try token.isSigned(by: $0) }.isEmpty)
        }
    }

    @Test func `leaves the signature out`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"signature":"missing"}"#)
            #expect(token.header["alg"] == .string("RS256"))
            #expect(token.signature.isEmpty)
        }
    }

    @Test func `mints an unsigned token`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"alg":"none"}"#)
            #expect(token.header["alg"] == .string("none"))
            #expect(token.signature.isEmpty)
        }
    }

    @Test func `keys an HS256 token with the public key`() async throws {
        try await EmulatorUnderTest.run { apple in
            let keyID = TestKeys.keyIDs[1]
            let token = try await apple.mint(#"{"alg":"HS256","kid":"\#(keyID)"}"#)
            let key = try #require(try await TestKeys.keys().first { $0.keyID == keyID })
            #expect(token.header["alg"] == .string("HS256"))
            #expect(token.signature == HMAC.sha256(token.signedBytes, secret: key.privateKey.publicKeyPEM))
        }
    }

    @Test(arguments: [("RS384", 256), ("RS512", 256), ("HS384", 48), ("HS512", 64)])
    func `signs with other algorithms`(algorithm: String, size: Int) async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"alg":"\#(algorithm)"}"#)
            #expect(token.header["alg"] == .string(algorithm))
            #expect(token.signature.count == size)
        }
    }

    @Test func `writes a key ID that no key has`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(#"{"kid":"invented"}"#)
            #expect(token.header["kid"] == .string("invented"))
            let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
            #expect(try keys.filter { try token.isSigned(by: $0) }.count == 1)
        }
    }

    @Test func `signs with the key that is asked for`() async throws {
        try await EmulatorUnderTest.run { apple in
            for keyID in TestKeys.keyIDs {
                let token = try await apple.mint(#"{"kid":"\#(keyID)"}"#)
                #expect(token.header["kid"] == .string(keyID))
                #expect(try await apple.isValid(token))
            }
        }
    }

    @Test func `adds header members under a valid signature`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(
                #"{"header":{"crit":["exp"],"jku":"https://evil.example","typ":"JWT"}}"#)
            #expect(token.header["crit"] == .array([.string("exp")]))
            #expect(token.header["jku"] == .string("https://evil.example"))
            #expect(token.header["typ"] == .string("JWT"))
            #expect(try await apple.isValid(token))
        }
    }

    @Test(
        arguments: [
            (#"{"header":{"alg":"ES256"}}"#, "alg", JSONValue.string("ES256")),
            (#"{"header":{"alg":7}}"#, "alg", .integer(7)),
            (#"{"header":{"kid":7}}"#, "kid", .integer(7)),
            (#"{"header":{"kid":null}}"#, "kid", .null),
            (#"{"remove_header":["alg"]}"#, "alg", nil),
            (#"{"remove_header":["kid"]}"#, "kid", nil),
        ] as [(String, String, JSONValue?)])
    func `writes any header`(members: String, name: String, value: JSONValue?) async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.mint(members)
            #expect(token.header[name] == value)
        }
    }

    @Test func `says so when the claims cannot be signed`() async throws {
        try await EmulatorUnderTest.run { apple in
            let body = #"{"claims":{"exp":99999999999999999999999999}}"#
            let answer = try await apple.post("/emulator/identity-tokens", body)
            #expect(answer.status == 422)
            #expect(answer.code == "token_unsignable")
        }
    }
}
