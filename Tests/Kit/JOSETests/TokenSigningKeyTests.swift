import Encodings
import JOSE
import StrictJSON
import Testing

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
