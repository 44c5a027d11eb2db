import CLibJWT
import Encodings
import JOSE
import StrictJSON
import TestSupport
import Testing
import TokenMint

@Suite struct CompactJWSTests {
    private static func segment(_ text: String) -> String { Base64URL.encode(text.utf8) }

    private static func jws(header: String, payload: String = "{}", signature: String = "sig") -> [UInt8] {
        Array("\(segment(header)).\(segment(payload)).\(segment(signature))".utf8)
    }

    @Test func `accepts what libjwt signed and refuses it with one bit changed`() throws {
        let mint = TokenMint.shared
        let token = try mint.sign(TokenMint.identityClaims())
        let key = try mint.privateKey.publicKey()
        let bytes = Array(token.utf8)
        #expect(try CompactJWS(parsing: bytes).isSigned(by: key))

        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        let signature = try #require(Base64URL.decode(bytes[(dots[1] + 1)...]))
        for bit in [0, 7, 1024, signature.count * 8 - 1] {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let forged = bytes[...dots[1]] + Array(Base64URL.encode(changed).utf8)
            #expect(try !CompactJWS(parsing: Array(forged)).isSigned(by: key))
        }
        let payload = try #require(Base64URL.decode(bytes[(dots[0] + 1)..<dots[1]]))
        var changed = payload
        changed[3] ^= 1
        let forged = bytes[...dots[0]] + Array(Base64URL.encode(changed).utf8) + bytes[dots[1]...]
        #expect(try !CompactJWS(parsing: Array(forged)).isSigned(by: key))
    }

    @Test func `libjwt writes a header of kid and alg, and the typ that it cannot leave out`() throws {
        let token = try TokenMint.shared.signWithLibJWT(TokenMint.identityClaims())
        #expect(Set(try Self.headerNames(of: token)) == ["kid", "alg", "typ"])
    }

    @Test func `signing over exact bytes leaves typ out, as Apple does`() throws {
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        #expect(try Self.headerNames(of: token) == ["kid", "alg"])
    }

    private static func headerNames(of token: String) throws -> [String] {
        let header = try #require(Base64URL.decode(String(token.prefix { $0 != "." })))
        return try #require(try JSONValue(parsing: header).object).members.map(\.name)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a", "a.b", "YQ.YQ", "YQ..YQ", ".YQ.YQ", "YQ.YQ.", "e30.e30.e30.e30",
        "e30=.e30.e30", "e30.e30.e3 0",
        // A valid header before an empty payload.
        "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ..YQ",
    ])
    func `refuses anything but three non-empty segments of base64url`(text: String) {
        #expect(throws: JOSEError(.jwsMalformed)) { try CompactJWS(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        "[]", "null", "\"RS256\"", "{", #"{"alg":"RS256","kid":"a","kid":"a"}"#,
        #"{"alg":"RS256","kid":"a",}"#,
        "\u{FEFF}{\"alg\":\"RS256\",\"kid\":\"a\"}",
    ])
    func `refuses a header that is not a strict JSON object`(header: String) {
        #expect(throws: JOSEError(.jwsMalformed)) { try CompactJWS(parsing: Self.jws(header: header)) }
    }

    @Test(arguments: [
        #"{"kid":"a"}"#, #"{"alg":"none","kid":"a"}"#, #"{"alg":"HS256","kid":"a"}"#,
        #"{"alg":"rs256","kid":"a"}"#,
        #"{"alg":"RS384","kid":"a"}"#, #"{"alg":"PS256","kid":"a"}"#, #"{"alg":"ES256","kid":"a"}"#,
        #"{"alg":["RS256"],"kid":"a"}"#, #"{"alg":null,"kid":"a"}"#, #"{"alg":"","kid":"a"}"#,
        #"{"alg":"none","kid":"a","crit":[]}"#,
    ])
    func `refuses every algorithm but RS256`(header: String) {
        #expect(throws: JOSEError(.algorithmNotAllowed)) { try CompactJWS(parsing: Self.jws(header: header)) }
    }

    @Test(
        arguments: ["crit", "b64", "jwk", "jku", "x5u", "x5c"],
        ["[]", "{}", "true", "\"https://evil.example/k\""])
    func `refuses a header that brings a key or changes the reading`(name: String, value: String) {
        #expect(throws: JOSEError(.headerNotAllowed)) {
            try CompactJWS(parsing: Self.jws(header: #"{"alg":"RS256","kid":"a","\#(name)":\#(value)}"#))
        }
    }

    @Test(arguments: [
        "", #","kid":"""#, #","kid":1"#, #","kid":null"#, #","kid":["a"]"#,
        ",\"kid\":\"\(String(repeating: "k", count: 65))\"",
    ])
    func `refuses a key ID that is absent, empty, too long or no string`(member: String) {
        #expect(throws: JOSEError(.keyIDInvalid)) {
            try CompactJWS(parsing: Self.jws(header: #"{"alg":"RS256"\#(member)}"#))
        }
    }

    @Test func `accepts a key ID of 64 characters and header members that mean nothing here`() throws {
        let keyID = String(repeating: "é", count: 64)
        let jws = try CompactJWS(
            parsing: Self.jws(header: #"{"alg":"RS256","kid":"\#(keyID)","typ":"JWT","x":{}}"#))
        #expect(jws.keyID == keyID)
    }
}

@Suite struct JWSSegmentsTests {
    @Test func `is the compact serialization of its bytes, and back`() throws {
        // RFC 7515, appendix A.5: an unsecured JWS, whose line breaks are part of the payload.
        let text =
            "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        let segments = JWSSegments(
            header: Array(#"{"alg":"none"}"#.utf8),
            payload: Array(
                "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}".utf8))
        #expect(segments.compact == text)
        #expect(segments.signingInput == Array(text.dropLast().utf8))
        #expect(JWSSegments(compact: text) == segments)
    }

    @Test(arguments: ["", "a.b", "YQ.YQ.YQ.YQ", "YQ==.YQ.YQ", "YR.YQ.YQ", "Y Q.YQ.YQ"])
    func `is nothing else`(text: String) {
        #expect(JWSSegments(compact: text) == nil)
    }
}

@Suite struct TokenTimeCheckTests {
    private let times = TokenTimeCheck(leeway: 60)
    private let now: Int64 = 1_800_000_000

    @Test(arguments: [(0, true), (59, true), (60, false), (86_400, false)] as [(Int64, Bool)])
    func `a token is good up to its end and the leeway`(age: Int64, isGood: Bool) {
        #expect(times.isUnexpired(now - age, at: now) == isGood)
    }

    @Test(arguments: [(-86_400, true), (0, true), (60, true), (61, false)] as [(Int64, Bool)])
    func `a token is good from nbf on, and what has happened is not ahead`(ahead: Int64, isGood: Bool) {
        #expect(times.isValid(notBefore: now + ahead, at: now) == isGood)
        #expect(times.isPast(now + ahead, at: now) == isGood)
    }

    @Test func `nbf is optional`() {
        #expect(times.isValid(notBefore: nil, at: now))
    }
}

/// libjwt as a second opinion: a producer that shares no code with our reader.
@Suite struct LibJWTDifferentialTests {
    private let mint = TokenMint.shared

    private func libjwtAccepts(_ token: String) -> Bool {
        let pem = Array(mint.privateKey.publicKeyPEM.utf8)
        var decoded: OpaquePointer?
        defer { jwt_free(decoded) }
        return jwt_decode(&decoded, token, pem, Int32(pem.count)) == 0
    }

    private func weAccept(_ token: String) throws -> Bool {
        let key = try mint.privateKey.publicKey()
        return (try? CompactJWS(parsing: Array(token.utf8)))?.isSigned(by: key) ?? false
    }

    /// Claims with random names, types and sizes; equal seeds give equal claims.
    private func randomClaims(_ seed: UInt64) -> JSONObject {
        var random = SeededGenerator(seed: seed)
        var claims = TokenMint.identityClaims()
        for index in 0..<Int(random.next() % 12) {
            let value: JSONValue =
                switch random.next() % 5 {
                case 0: .integer(Int64(truncatingIfNeeded: random.next()))
                case 1: .bool(random.next() % 2 == 0)
                case 2: .array([.string("é\u{1F600}"), .null])
                case 3: .object(JSONObject([("n", .integer(Int64(index)))]))
                default: .string(String(repeating: "\\\"\n\u{7F}ß", count: Int(random.next() % 40)))
                }
            claims["x\(index)"] = value
        }
        return claims
    }

    @Test func `accepts whatever libjwt signs, and reads the claims that went in`() throws {
        for seed in 0..<200 as Range<UInt64> {
            let claims = randomClaims(seed)
            let token = try mint.signWithLibJWT(claims)
            #expect(libjwtAccepts(token))
            #expect(try weAccept(token))
            let payload = try JSONValue(parsing: CompactJWS(parsing: Array(token.utf8)).payload)
            for (name, value) in claims.members { #expect(payload[name] == value) }
        }
    }

    @Test func `signs what libjwt accepts, in the order that was asked for`() throws {
        for seed in 0..<50 as Range<UInt64> {
            let claims = randomClaims(seed)
            let token = try mint.sign(claims)
            #expect(libjwtAccepts(token))
            #expect(try weAccept(token))
            let segments = try #require(JWSSegments(compact: token))
            #expect(segments.payload == JSONValue.object(claims).serialized())
        }
    }

    /// PKCS #1 v1.5 and HMAC have one result for each input, so two libraries must agree to the byte.
    @Test(arguments: [
        (JWTSigner.Algorithm.RS256, HashFunction.sha256), (.RS384, .sha384), (.RS512, .sha512),
        (.HS256, .sha256), (.HS384, .sha384), (.HS512, .sha512),
    ])
    func `makes the same signature as libjwt`(algorithm: JWTSigner.Algorithm, hash: HashFunction) throws {
        let isShared = algorithm.rawValue.hasPrefix("HS")
        let key = isShared ? mint.privateKey.publicKeyPEM : mint.privateKey.pem
        let token = try JWTSigner.sign(
            claims: randomClaims(3), keyID: mint.keyID, algorithm: algorithm, key: key)
        let segments = try #require(JWSSegments(compact: token))
        let ours =
            isShared
            ? try MessageAuthenticationCode.make(
                for: segments.signingInput, secret: Array(key.utf8), with: hash)
            : try mint.privateKey.signature(for: segments.signingInput, with: hash)
        #expect(ours == segments.signature)
        #expect(segments.compact == token)
    }

    @Test func `agrees with libjwt on tokens whose signature or payload was changed`() throws {
        let token = try mint.sign(randomClaims(7))
        let parts = token.split(separator: ".").map(String.init)
        for (part, stride) in [(1, 5), (2, 7)] {
            let bytes = try #require(Base64URL.decode(parts[part]))
            for index in Swift.stride(from: 0, to: bytes.count, by: stride) {
                var changed = bytes
                changed[index] ^= 0x10
                var forged = parts
                forged[part] = Base64URL.encode(changed)
                let forgery = forged.joined(separator: ".")
                #expect(try !weAccept(forgery))
                #expect(!libjwtAccepts(forgery))
            }
        }
    }

    @Test(arguments: [JWTSigner.Algorithm.RS384, .RS512, .none])
    func `refuses libjwt's other algorithms`(algorithm: JWTSigner.Algorithm) throws {
        let token = try JWTSigner.sign(
            claims: TokenMint.identityClaims(), keyID: mint.keyID, algorithm: algorithm,
            key: mint.privateKey.pem)
        #expect(try !weAccept(token))
    }

    /// Reason for never verifying with libjwt: it uses the algorithm of the header, and our public key as a
    /// shared secret.
    @Test func `refuses an HS256 token keyed with the public PEM, which libjwt accepts`() throws {
        let token = try JWTSigner.sign(
            claims: TokenMint.identityClaims(), keyID: mint.keyID, algorithm: .HS256,
            key: mint.privateKey.publicKeyPEM)
        #expect(libjwtAccepts(token))
        #expect(throws: JOSEError(.algorithmNotAllowed)) { try CompactJWS(parsing: Array(token.utf8)) }
    }
}
