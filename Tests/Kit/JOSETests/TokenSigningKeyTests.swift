import Encodings
import JOSE
import StrictJSON
import Testing
import TokenMint

@Suite struct TokenSigningKeyTests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `what a key signs its public half verifies`(algorithm: SignatureAlgorithm) throws {
        let pem = try TokenSigningKey.makePEM(for: algorithm)
        let key = try TokenSigningKey(pem: pem, algorithm: algorithm)
        for length in [0, 1, 1000] {
            let message = Array(repeating: UInt8(7), count: length + 1)
            let signature = try key.signature(for: message)
            #expect(key.verificationKey.isValidSignature(signature, for: message[...]))
            #expect(!key.verificationKey.isValidSignature(signature, for: message.dropLast()))
            if algorithm == .ES256 { #expect(signature.count == 64) }
        }
        let published = try TokenVerificationKey(jwk: .object(key.verificationKey.jwk))
        #expect(published.keyID == key.keyID)
        #expect(!"\(key)".contains("PRIVATE"))
        let other: SignatureAlgorithm = algorithm == .ES256 ? .RS256 : .ES256
        #expect(throws: JOSEError(.keyUnusable)) { try TokenSigningKey(pem: pem, algorithm: other) }
    }

    @Test func `many signatures have the raw form, also with short numbers`() throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        for number in 0..<600 {
            let message = Array("\(number)".utf8)
            let signature = try key.signature(for: message)
            #expect(signature.count == 64)
            #expect(key.verificationKey.isValidSignature(signature, for: message[...]))
        }
    }

    @Test func `the key ID is the thumbprint of RFC 7638`() throws {
        // RFC 7638 §3.1.
        let jwk = JSONObject([
            ("kty", .string("RSA")),
            (
                "n",
                .string(
                    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
                )
            ),
            ("e", .string("AQAB")),
        ])
        let key = try TokenVerificationKey(jwk: .object(jwk))
        #expect(key.keyID == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.algorithm == .RS256)
    }

    @Test func `a token of another algorithm than the key's is not signed by it`() throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let text = try TypedJWS.sign(Array("{}".utf8), type: "JWT", with: key)
        let token = try TypedJWS(parsing: Array(text.utf8))
        #expect(token.isSigned(by: key.verificationKey))
        #expect(token.type == "JWT")
        var segments = try #require(JWSSegments(compact: text))
        for header in [
            #"{"alg":"RS256","kid":"\#(key.keyID)"}"#, #"{"alg":"ES256","kid":"\#(key.keyID)","x":1}"#,
        ] {
            segments.header = Array(header.utf8)
            #expect(try !TypedJWS(parsing: Array(segments.compact.utf8)).isSigned(by: key.verificationKey))
        }
        for header in [
            #"{"alg":"none","kid":"x"}"#, #"{"alg":"HS256","kid":"x"}"#, #"{"alg":"ES256"}"#, "[]", "x",
            #"{"alg":"ES256","kid":"x","crit":["b64"]}"#, #"{"alg":"ES256","kid":"x","jwk":{}}"#,
        ] {
            segments.header = Array(header.utf8)
            #expect(throws: JOSEError.self) { try TypedJWS(parsing: Array(segments.compact.utf8)) }
        }
    }
}

@Suite struct JSONWebKeySetTests {
    private static let sample = TokenMint.shared.privateKey.publicJWK(keyID: "GOOD")

    private static func set(_ entries: [JSONValue]) -> [UInt8] {
        JSONValue.object(JSONObject([("keys", .array(entries))])).serialized()
    }

    private static func changed(_ name: String, _ value: JSONValue?) -> JSONValue {
        var key = sample
        key[name] = value
        return .object(key)
    }

    private static func number(bits: Int, last: UInt8 = 1) -> JSONValue {
        var bytes = [UInt8](repeating: 0xAB, count: (bits + 7) / 8)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] = last
        return .string(Base64URL.encode(bytes))
    }

    private static let rest = TokenMint(keyID: "REST").privateKey.publicJWK(keyID: "REST")

    @Test func `finds a key by the bytes of its ID`() throws {
        var kelvin = TokenMint(keyID: "\u{212A}").privateKey.publicJWK(keyID: "\u{212A}")
        kelvin["alg"] = nil
        kelvin["use"] = nil
        let set = try JSONWebKeySet(parsing: Self.set([.object(kelvin), .object(Self.sample)]))
        #expect(set.count == 2)
        #expect(set.key(for: "GOOD") != nil)
        #expect(set.key(for: "\u{212A}") != nil)
        #expect(set.key(for: "K") == nil)
        #expect(set.key(for: "") == nil)
        #expect(set.key(for: "GOOD\0") == nil)
    }

    @Test(arguments: [
        (changed("kty", .string("EC")), SkippedKey.Reason.otherType), (changed("kty", nil), .malformed),
        (changed("use", .string("enc")), .otherUse), (changed("use", .null), .otherUse),
        (changed("key_ops", .array([])), .otherOperations),
        (changed("key_ops", .array([.string("sign")])), .otherOperations),
        (changed("key_ops", .array([.string("Verify")])), .otherOperations),
        (changed("key_ops", .string("verify")), .malformed), (changed("key_ops", .null), .malformed),
        (changed("key_ops", .array([.string("verify"), .integer(1)])), .malformed),
        (changed("key_ops", .array([.string("verify"), .string("verify")])), .malformed),
        (changed("alg", .string("RS512")), .otherAlgorithm), (changed("alg", .integer(1)), .otherAlgorithm),
        (changed("kid", nil), .keyIDInvalid), (changed("kid", .string("")), .keyIDInvalid),
        (changed("kid", .string(String(repeating: "k", count: 65))), .keyIDInvalid),
        (changed("n", nil), .malformed), (changed("n", .string("not base64!")), .malformed),
        (changed("n", .string("")), .unsafeNumbers), (changed("n", number(bits: 1024)), .unsafeNumbers),
        (changed("n", number(bits: 2047)), .unsafeNumbers),
        (changed("n", number(bits: 4097)), .unsafeNumbers),
        (changed("n", number(bits: 2048, last: 2)), .unsafeNumbers),
        (changed("e", .string("AQ")), .unsafeNumbers), (changed("e", .string("Aw")), .unsafeNumbers),
        (changed("e", .string("AQAC")), .unsafeNumbers), (changed("e", .string("AQAAAAE")), .unsafeNumbers),
        (changed("e", nil), .malformed), (.string("key"), .malformed), (.null, .malformed),
    ])
    func `skips an entry that must not verify, and keeps the rest`(
        entry: JSONValue, reason: SkippedKey.Reason
    ) throws {
        let set = try JSONWebKeySet(parsing: Self.set([entry, .object(Self.rest)]))
        #expect(set.keyIDs == ["REST"])
        #expect(set.skipped.map(\.reason) == [reason])
    }

    @Test(arguments: [["verify"], ["sign", "verify"], ["verify", "unknown"]])
    func `uses a key whose operations include verify`(operations: [String]) throws {
        let entry = Self.changed("key_ops", .array(operations.map { .string($0) }))
        #expect(try JSONWebKeySet(parsing: Self.set([entry])).count == 1)
    }

    @Test(arguments: [2048, 3072, 4096]) func `uses moduli of 2048 to 4096 bits`(bits: Int) throws {
        #expect(try JSONWebKeySet(parsing: Self.set([Self.changed("n", Self.number(bits: bits))])).count == 1)
    }

    @Test func `makes a key ID unusable that two different keys share, and no other`() throws {
        let other = TokenMint(keyID: "GOOD").privateKey
        let set = try JSONWebKeySet(
            parsing: Self.set([
                .object(Self.sample), .object(other.publicJWK(keyID: "GOOD")),
                .object(other.publicJWK(keyID: "ELSE")),
            ]))
        #expect(set.keyIDs == ["ELSE"])
        #expect(set.skipped.map(\.reason) == [.ambiguous, .ambiguous])
    }

    @Test func `counts the same key twice as one`() throws {
        let set = try JSONWebKeySet(parsing: Self.set([.object(Self.sample), .object(Self.sample)]))
        #expect(set.keyIDs == ["GOOD"])
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[],"keys":[]}"#,
        "{\"keys\":[]} x",
    ])
    func `refuses what is no key set`(text: String) {
        #expect(throws: JOSEError(.keySetMalformed)) { try JSONWebKeySet(parsing: Array(text.utf8)) }
    }

    @Test func `parses a set without a usable key as empty`() throws {
        #expect(try JSONWebKeySet(parsing: Array(#"{"keys":[{}]}"#.utf8)).isEmpty)
    }
}
