import Encodings
import JOSE
import StrictJSON
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
