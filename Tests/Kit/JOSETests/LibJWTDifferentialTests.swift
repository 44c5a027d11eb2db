import CLibJWT
import Encodings
import JOSE
import StrictJSON
import TestSupport
import Testing
import TokenMint

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
