import AppleEmulator
import Cryptography
import JOSE
import StrictJSON
import Testing

@Suite(.apple()) struct ForgeryTests {
    let apple = EmulatorUnderTest.current

    @Test(arguments: ["tampered", "wrong_key", "other_key", "other_claims"])
    func `forges the signature`(kind: String) async throws {
        let token = try await apple.mint(#"{"signature":"\#(kind)","claims":{"sub":"somebody"}}"#)
        #expect(TestKeys.keyIDs.contains(token.header["kid"]?.string ?? ""))
        #expect(token.header["alg"] == "RS256")
        #expect(token.claims["sub"] == "somebody")
        #expect(token.signature.count == 256)
        #expect(try await apple.isValid(token) == false)
    }

    @Test func `signs with another published key than the header names`() async throws {
        let token = try await apple.mint(#"{"signature":"other_key"}"#)
        let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
        let signers = try keys.filter { try token.isSigned(by: $0) }
        #expect(signers.count == 1)
        #expect(signers[0]["kid"] != token.header["kid"])
    }

    @Test func `signs with a key that was never published`() async throws {
        let token = try await apple.mint(#"{"signature":"wrong_key"}"#)
        let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
        #expect(try keys.filter { try token.isSigned(by: $0) }.isEmpty)
    }

    @Test func `leaves the signature out`() async throws {
        let token = try await apple.mint(#"{"signature":"missing"}"#)
        #expect(token.header["alg"] == "RS256")
        #expect(token.signature.isEmpty)
    }

    @Test func `mints an unsigned token`() async throws {
        let token = try await apple.mint(#"{"alg":"none"}"#)
        #expect(token.header["alg"] == "none")
        #expect(token.signature.isEmpty)
    }

    @Test func `keys an HS256 token with the public key`() async throws {
        let keyID = TestKeys.keyIDs[1]
        let token = try await apple.mint(#"{"alg":"HS256","kid":"\#(keyID)"}"#)
        let key = try #require(try await TestKeys.keys().first { $0.keyID == keyID })
        #expect(token.header["alg"] == "HS256")
        let secret = Array(try await key.privateKey.publicKeyPEM.utf8)
        #expect(token.signature == HMACSHA256(key: secret).code(for: token.signedBytes))
    }

    @Test(arguments: [("RS384", 256), ("RS512", 256), ("HS384", 48), ("HS512", 64)])
    func `signs with other algorithms`(algorithm: String, size: Int) async throws {
        let token = try await apple.mint(#"{"alg":"\#(algorithm)"}"#)
        #expect(token.header["alg"] == .string(algorithm))
        #expect(token.signature.count == size)
    }

    @Test func `writes an unknown key ID`() async throws {
        let token = try await apple.mint(#"{"kid":"invented"}"#)
        #expect(token.header["kid"] == "invented")
        let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
        #expect(try keys.filter { try token.isSigned(by: $0) }.count == 1)
    }

    @Test func `signs with the requested key`() async throws {
        for keyID in TestKeys.keyIDs {
            let token = try await apple.mint(#"{"kid":"\#(keyID)"}"#)
            #expect(token.header["kid"] == .string(keyID))
            #expect(try await apple.isValid(token))
        }
    }

    @Test func `adds header members under a valid signature`() async throws {
        let token = try await apple.mint(
            #"{"header":{"crit":["exp"],"jku":"https://evil.example","typ":"JWT"}}"#)
        #expect(token.header["crit"] == .array(["exp"]))
        #expect(token.header["jku"] == "https://evil.example")
        #expect(token.header["typ"] == "JWT")
        #expect(try await apple.isValid(token))
    }

    @Test(
        arguments: [
            (#"{"header":{"alg":"ES256"}}"#, "alg", JSONValue.string("ES256")),
            (#"{"header":{"alg":7}}"#, "alg", 7), (#"{"header":{"kid":7}}"#, "kid", 7),
            (#"{"header":{"kid":null}}"#, "kid", .null), (#"{"remove_header":["alg"]}"#, "alg", nil),
            (#"{"remove_header":["kid"]}"#, "kid", nil),
            (#"{"remove_header":["kid","alg"],"signature":"valid"}"#, "alg", nil),
            (#"{"header":{"typ":"JWT","alg":"RS256"}}"#, "typ", "JWT"),
            (#"{"header":{"typ":"at+jwt"}}"#, "typ", "at+jwt"),
        ] as [(String, String, JSONValue?)])
    func `writes any header`(members: String, name: String, value: JSONValue?) async throws {
        let token = try await apple.mint(members)
        #expect(token.header[name] == value)
        // The result is signed by one of the published keys.
        let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
        #expect(try keys.filter { try token.isSigned(by: $0) }.count == 1)
    }

    @Test func `reports claims that cannot be signed`() async throws {
        // libjwt writes tokens with `typ`, and reads numbers into 64 bits.
        let body = #"{"header":{"typ":"JWT"},"claims":{"exp":99999999999999999999999999}}"#
        let response = try await apple.post("/emulator/identity-tokens", body)
        #expect(response.status == 422)
        #expect(response.code == "token_unsignable")
        let token = try await apple.mint(#"{"claims":{"exp":99999999999999999999999999}}"#)
        #expect(token.claimsText.contains(#""exp":99999999999999999999999999,"#))
        #expect(try await apple.isValid(token))
    }

    @Test func `changes only what was requested`() async throws {
        let keyID = TestKeys.keyIDs[0]
        let honest = try await apple.mint(#"{"kid":"\#(keyID)"}"#)
        let forged = try await apple.mint(#"{"kid":"\#(keyID)","claims":{"aud":["x"]},"alg":"RS512"}"#)
        #expect(
            forged.claimsText
                == honest.claimsText.replacing(#""aud":"com.example.app""#, with: #""aud":["x"]"#))
        #expect(forged.headerText == #"{"kid":"\#(keyID)","alg":"RS512"}"#)
    }

    @Test func `lets libjwt write a token with typ, like other issuers`() async throws {
        let token = try await apple.mint(#"{"header":{"typ":"JWT"}}"#)
        #expect(token.header["typ"] == "JWT")
        let names = try #require(token.claims.object).members.map(\.name)
        #expect(names == names.sorted())
        #expect(try await apple.isValid(token))
    }

    @Test(arguments: [
        #"{"remove_claims":["nonse"]}"#, #"{"remove_claims":["nonce"]}"#, #"{"remove_claims":["iat","iat"]}"#,
        #"{"claims":{"iat":1},"remove_claims":["iat"]}"#, #"{"remove_header":["typ"]}"#,
        #"{"header":{"alg":"x"},"remove_header":["alg"]}"#,
        #"{"header":{"typ":"JWT"},"remove_header":["typ"]}"#,
        #"{"kid":"invented","remove_header":["kid"]}"#, #"{"kid":"invented","header":{"kid":"x"}}"#,
        #"{"kid":"86D88Kf","remove_header":["kid"],"signature":"wrong_key"}"#,
        #"{"kid":"86D88Kf","remove_header":["kid"],"alg":"none"}"#, #"{"alg":"none","signature":"missing"}"#,
        #"{"alg":"none","signature":"tampered"}"#, #"{"alg":"none","signature":"wrong_key"}"#,
        #"{"signature":"other_claims"}"#, #"{"signature":"other_claims","claims":{"aud":"com.example.app"}}"#,
        #"{"iat":1700000000,"time_offset":5}"#, #"{"redirect_uri":"https://example.com/"}"#,
    ])
    func `refuses a member without effect, and changes nothing`(members: String) async throws {
        let response = try await apple.post("/emulator/identity-tokens", members)
        #expect(response.status == 400)
        #expect(response.code == "member_ineffective")
        #expect(apple.emulator.state.counters == EmulatorCounters())
        #expect(apple.emulator.state.users[0].apps.isEmpty)
    }

    @Test(arguments: [
        #"{"kid":"86D88Kf","remove_header":["kid"]}"#, #"{"kid":"86D88Kf","header":{"kid":7}}"#,
        #"{"claims":{"aud":"com.example.app"}}"#, #"{"signature":"valid","alg":"RS256"}"#,
        #"{"kid":"invented","signature":"wrong_key"}"#, #"{"kid":"invented","alg":"none"}"#,
    ])
    func `accepts a member with effect`(members: String) async throws {
        #expect(try await apple.post("/emulator/identity-tokens", members).status == 201)
    }
}
