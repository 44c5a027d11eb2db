import AppleEmulator
import Cryptography
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite(.apple()) struct IdentityTokenTests {
    let apple = EmulatorUnderTest.current

    @Test func `an empty request mints a valid token for the default user`() async throws {
        let response = try await apple.post("/emulator/identity-tokens")
        #expect(response.status == 201)
        let json = try response.json
        let token = try ReadToken(try #require(json["identity_token"]?.string))
        #expect(try await apple.isValid(token))
        let keyID = token.header["kid"]?.string ?? ""
        #expect(token.headerText == #"{"kid":"\#(keyID)","alg":"RS256"}"#)
        let now = apple.clock.seconds
        #expect(token.claims["iss"] == "https://appleid.apple.com")
        #expect(token.claims["aud"] == "com.example.app")
        #expect(token.claims["iat"] == .integer(now))
        #expect(token.claims["auth_time"] == .integer(now))
        #expect(token.claims["exp"] == .integer(now + 86_400))
        #expect(token.claims["sub"] == .string(apple.emulator.state.users[0].subject))
        #expect(token.claims["email"] == "jane.appleseed@example.com")
        #expect(token.claims["email_verified"] == true)
        #expect(token.claims["nonce_supported"] == true)
        #expect(token.claims["real_user_status"] == 2)
        #expect(token.claims.object?.members.count == 10)
        #expect(json["sub"] == token.claims["sub"])
        #expect(json["client_id"] == "com.example.app")
        #expect(json["nonce"] == nil)
    }

    @Test func `returns the user object only at the first authorization of an app`() async throws {
        let first = try await apple.post("/emulator/identity-tokens").json["user"]
        #expect(first?["name"]?["firstName"] == "Jane")
        #expect(first?["name"]?["lastName"] == "Appleseed")
        #expect(first?["email"] == "jane.appleseed@example.com")
        // The web client ID belongs to the same app.
        let second = #"{"client_id":"com.example.app.web"}"#
        #expect(try await apple.post("/emulator/identity-tokens", second).json["user"] == nil)
        let forced = #"{"include_user":true}"#
        #expect(try await apple.post("/emulator/identity-tokens", forced).json["user"] == first)
        _ = try await apple.post("/emulator/users/default/revoke-consent")
        #expect(try await apple.post("/emulator/identity-tokens").json["user"] == first)
    }

    @Test(arguments: ["?format=text", ""])
    func `returns only the token as text`(query: String) async throws {
        let response = try await apple.send(
            .POST, "/emulator/identity-tokens\(query)",
            headers: query.isEmpty ? ["Accept": "text/plain"] : [:])
        #expect(response.headers["content-type"] == ["text/plain;charset=utf-8"])
        #expect(response.body.last != UInt8(ascii: "\n"))
        #expect(try await apple.isValid(ReadToken(response.text)))
    }

    @Test func `writes the claims in Apple's order, without white space`() async throws {
        _ = try await apple.post("/emulator/users", #"{"sub":"person","hide_email":true}"#)
        let relay = try apple.emulator.state.user("person").identities[0].relayAddress
        let token = try await apple.mint(#"{"sub":"person","nonce":"n-1","code":"c-1"}"#)
        #expect(
            token.claimsText == """
                {"iss":"https://appleid.apple.com","aud":"com.example.app","exp":1700086400,\
                "iat":1700000000,"sub":"person","nonce":"n-1","c_hash":"\(Self.hash(of: "c-1"))",\
                "email":"\(relay)","email_verified":true,"is_private_email":true,\
                "auth_time":1700000000,"nonce_supported":true,"real_user_status":2}
                """)
        let other = try await apple.mint(#"{"access_token":"a-1"}"#)
        #expect(other.claimsText.contains(#","at_hash":"\#(Self.hash(of: "a-1"))","email":"jane"#))
    }

    private static func hash(of secret: String) -> String {
        Base64URL.encode(SHA256Digest.hash(secret).prefix(16))
    }

    @Test func `has real_user_status only for native apps`() async throws {
        #expect(try await apple.mint().claims["real_user_status"] == 2)
        let web = try await apple.mint(#"{"client_id":"com.example.app.web"}"#)
        #expect(web.claims["real_user_status"] == nil)
        let page = try await apple.mint(
            #"{"code":"c-1","redirect_uri":"https://app.example.com/callback"}"#)
        #expect(page.claims["real_user_status"] == nil)
        let native = try await apple.exchange(apple.code()).json["id_token"]?.string ?? ""
        #expect(try ReadToken(native).claims["real_user_status"] == 2)
        let fields = ["redirect_uri": "https://app.example.com/callback"]
        let exchanged = try await apple.exchange("c-1", fields).json["id_token"]?.string ?? ""
        #expect(try ReadToken(exchanged).claims["real_user_status"] == nil)
    }

    @Test func `binds the token to a nonce, a code and an access token`() async throws {
        let response = try await apple.post(
            "/emulator/identity-tokens", #"{"nonce":"n-1","code":true,"access_token":"given"}"#)
        let json = try response.json
        let claims = try ReadToken(try #require(json["identity_token"]?.string)).claims
        let code = try #require(json["authorization_code"]?.string)
        #expect(claims["nonce"] == "n-1")
        #expect(json["nonce"] == "n-1")
        #expect(claims["c_hash"]?.string == Base64URL.encode(SHA256Digest.hash(code).prefix(16)))
        #expect(json["access_token"] == "given")
        #expect(claims["at_hash"]?.string == Base64URL.encode(SHA256Digest.hash("given").prefix(16)))
    }

    @Test func `hashes a code as Apple does`() async throws {
        // SHA-256 of the empty string is e3b0c44298fc1c149afbf4c8996fb924 27ae41e4649b934ca495991b7852b855.
        try await EmulatorUnderTest.run { apple async throws in
            #expect(try await apple.mint(#"{"code":""}"#).claims["c_hash"] == "47DEQpj8HBSa-_TImW-5JA")
        }
    }

    @Test(
        arguments: [
            (#"{"time_offset":-90000}"#, -90_000, -90_000 + 86_400, -90_000),
            (#"{"time_offset":300,"lifetime":600}"#, 300, 900, 300),
            (#"{"iat":1700000100,"auth_time":1700000095}"#, 100, 86_500, 95),
            (#"{"lifetime":-1}"#, 0, -1, 0),
        ] as [(String, Int64, Int64, Int64)])
    func `mints for another time`(members: String, iat: Int64, exp: Int64, auth: Int64) async throws {
        let claims = try await apple.mint(members).claims
        let base: Int64 = 1_700_000_000
        #expect(claims["iat"] == .integer(base + iat))
        #expect(claims["exp"] == .integer(base + exp))
        #expect(claims["auth_time"] == .integer(base + auth))
    }

    @Test func `uses the injected clock`() async throws {
        apple.clock.advance(bySeconds: 7200)
        #expect(try await apple.mint().claims["iat"] == 1_700_007_200)
    }

    @Test func `replaces, adds and removes claims of any type`() async throws {
        let token = try await apple.mint(
            """
            {"claims":{"iss":"https://evil.example","aud":["a","b"],"exp":1e300,"email_verified":"true",
            "sub":null,"events":{"type":"x"}},"remove_claims":["iat","auth_time"]}
            """)
        #expect(token.claims["iss"] == "https://evil.example")
        #expect(token.claims["aud"] == .array(["a", "b"]))
        #expect(token.claimsText.contains(#","exp":1e300,"#))
        #expect(token.claims["email_verified"] == "true")
        #expect(token.claims["sub"] == .null)
        #expect(token.claims["events"]?["type"] == "x")
        #expect(token.claims["iat"] == nil)
        #expect(token.claims["auth_time"] == nil)
        #expect(try await apple.isValid(token))
    }

    @Test func `mints for any client ID, with the first team's sub`() async throws {
        let token = try await apple.mint(#"{"client_id":"com.other.app"}"#)
        #expect(token.claims["aud"] == "com.other.app")
        #expect(token.claims["sub"] == .string(apple.emulator.state.users[0].subject))
        #expect(apple.emulator.state.users[0].apps.isEmpty)
    }

    @Test func `gives each team a different sub and relay address of the same user`() async throws {
        let other = try EmulatedApp(teamID: "TEAM000002", clientIDs: ["org.example.other"])
        try await EmulatorUnderTest.run {
            $0.apps.append(other)
        } _: { apple in
            _ = try await apple.post("/emulator/users", #"{"sub":"person","hide_email":true}"#)
            let here = try await apple.mint(#"{"sub":"person"}"#).claims
            let there = try await apple.mint(#"{"sub":"person","client_id":"org.example.other"}"#).claims
            #expect(here["sub"] == "person")
            #expect(there["sub"] != here["sub"])
            #expect(there["email"] != here["email"])
            #expect(there["is_private_email"] == true)
            // The `sub` of the other team finds the same user.
            let sub = try #require(there["sub"]?.string)
            #expect(try await apple.mint(#"{"sub":"\#(sub)"}"#).claims["sub"] == "person")
        }
    }

    @Test func `several keys sign at the same time`() async throws {
        var keyIDs: Set<String> = []
        for _ in 0..<60 {
            keyIDs.insert(try await apple.emulator.state.mint(IdentityTokenRecipe()).keyID)
        }
        #expect(keyIDs.count > 1)
        #expect(keyIDs.isSubset(of: TestKeys.keyIDs))
        #expect(try await apple.counter("identity_tokens") == 60)
    }
}

extension MintedIdentityToken {
    var keyID: String { get throws { try ReadToken(identityToken).header["kid"]?.string ?? "" } }
}

/// Compares tokens of the emulator with real tokens of Apple, which are read from the folder in
/// `SIWA_REAL_TOKENS` and are not part of this project.
@Suite struct RealShapeTests {
    private var apple: EmulatorUnderTest { .current }

    struct RealToken: Decodable, Sendable, CustomTestStringConvertible {
        let kind: String
        let jwt: String

        var testDescription: String { "\(kind) \(jwt.suffix(8))" }
    }

    static func all(_ kind: String) throws -> [RealToken] {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_TOKENS"], !path.isEmpty else {
            return []
        }
        let data = try Data(contentsOf: URL(filePath: path).appending(path: "cases.json"))
        return try JSONDecoder().decode([RealToken].self, from: data).filter { $0.kind == kind }
    }

    @Test(.apple(), arguments: try all("identity-token"))
    func `writes the same bytes as Apple for the same identity`(real: RealToken) async throws {
        let apples = try ReadToken(real.jwt)
        if apples.claims["transfer_sub"] != nil {
            _ = try await apple.post("/emulator/transfers", #"{"team_id":"TEAM000002"}"#)
        }
        _ = try await apple.post(
            "/emulator/users", #"{"sub":"person","hide_email":\#(apples.claims["is_private_email"] != nil)}"#)
        var recipe = JSONObject([("sub", "person"), ("kid", apples.header["kid"] ?? .null)])
        recipe["nonce"] = apples.claims["nonce"]
        if apples.claims["c_hash"] != nil { recipe["code"] = true }
        if apples.claims["at_hash"] != nil { recipe["access_token"] = true }
        let honest = try await apple.mint(Self.text(recipe))
        // Apple has added claims over the years, so claims that the real token does not have are left
        // out.
        let names = try #require(honest.claims.object).members.map(\.name)
        recipe["claims"] = apples.claims
        recipe["remove_claims"] = .array(names.filter { apples.claims[$0] == nil }.map { .string($0) })
        let ours = try await apple.mint(Self.text(recipe))
        #expect(ours.headerText == apples.headerText)
        #expect(ours.claimsText == apples.claimsText)
    }

    @Test(.apple(), arguments: try all("notification"))
    func `writes the same bytes as Apple for the same notification`(real: RealToken) async throws {
        let apples = try ReadToken(real.jwt)
        let event = try JSONValue(parsing: Array(try #require(apples.claims["events"]?.string).utf8))
        var claims = try #require(apples.claims.object)
        claims["events"] = nil
        let recipe = JSONObject([
            ("kid", apples.header["kid"] ?? .null), ("event", event), ("claims", .object(claims)),
        ])
        let ours = try await apple.notify(Self.text(recipe))
        #expect(ours.headerText == apples.headerText)
        #expect(ours.claimsText == apples.claimsText)
    }

    private static func text(_ object: JSONObject) -> String {
        String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}

/// A parsed compact JWS, not verified.
struct ReadToken {
    let header: JSONValue
    let claims: JSONValue
    /// The exact bytes of the token.
    let headerText: String
    let claimsText: String
    let signature: [UInt8]
    let signedBytes: [UInt8]

    init(_ compact: String) throws {
        let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
        try #require(segments.count == 3)
        let header = try #require(Base64URL.decode(String(segments[0])))
        let claims = try #require(Base64URL.decode(String(segments[1])))
        (headerText, claimsText) = (
            String(decoding: header, as: UTF8.self), String(decoding: claims, as: UTF8.self)
        )
        self.header = try JSONValue(parsing: header)
        self.claims = try JSONValue(parsing: claims)
        signature = try #require(Base64URL.decode(String(segments[2])))
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    /// True if `key`, an entry of a key set, has signed the token.
    func isSigned(by key: JSONValue) throws -> Bool {
        let modulus = try #require(Base64URL.decode(key["n"]?.string ?? ""))
        let exponent = try #require(Base64URL.decode(key["e"]?.string ?? ""))
        return try RSAPublicKey(modulus: modulus, exponent: exponent)
            .isValidSignature(signature, for: signedBytes[...])
    }
}
