import Encodings
import Foundation
import JOSE
import StrictJSON
import TestSupport
import Testing
import TokenMint

@Suite struct RSAPublicKeyTests {
    @Test(
        arguments: [
            [], [0], [1], Array(repeating: 0, count: 256), Array(repeating: 255, count: 256),
            Array(repeating: 1, count: 255), Array(repeating: 1, count: 257),
        ] as [[UInt8]])
    func `refuses signatures of any length that no private key made`(signature: [UInt8]) throws {
        let key = try TokenMint.shared.privateKey.publicKey()
        #expect(!key.isValidSignature(signature, for: Array("message".utf8)[...]))
    }

    /// Sizes that do not fill the last byte or the last word: RFC 8017 counts the padding in bytes, OpenSSL
    /// computes in words.
    @Test(arguments: [2049, 2050, 2063, 2176, 2500])
    func `verifies with a modulus of any number of bits`(bits: Int) throws {
        let privateKey = try RSAPrivateKey.generate(bits: bits)
        let key = try privateKey.publicKey()
        for number in 0..<20 {
            let token = try JWTSigner.sign(
                claims: JSONObject([("number", .integer(Int64(number)))]), keyID: "KEY", algorithm: .RS256,
                key: privateKey.pem)
            #expect(try CompactJWS(parsing: Array(token.utf8)).isSigned(by: key))
        }
    }

    @Test func `verifies from many tasks at once`() async throws {
        let mint = TokenMint.shared
        let key = try mint.privateKey.publicKey()
        let jws = try CompactJWS(parsing: Array(try mint.sign(TokenMint.identityClaims()).utf8))
        let other = try TokenMint(keyID: "OTHER").privateKey.publicKey()
        let verdicts = await withTaskGroup(of: (Bool, Bool).self) { group in
            for _ in 0..<500 { group.addTask { (jws.isSigned(by: key), jws.isSigned(by: other)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts.count == 500)
        #expect(verdicts.allSatisfy { $0.0 && !$0.1 })
    }

    @Test(arguments: [2, 3]) func `reads its own private key back from PEM, and signs with it`(primes: Int)
        throws
    {
        let key = try RSAPrivateKey.generate(primes: primes)
        let copy = try RSAPrivateKey(pem: key.pem)
        #expect(copy.publicKeyPEM == key.publicKeyPEM)
        let message = Array("message".utf8)
        #expect(try key.publicKey().isValidSignature(copy.signature(for: message), for: message[...]))
        #expect(throws: JOSEError(.keyUnusable)) {
            try RSAPrivateKey(pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n")
        }
    }
}

/// The classes of forged signatures in `Fixtures/rsa-signatures`.
@Suite struct RSASignatureFixtureTests {
    struct Document: Decodable {
        enum CodingKeys: String, CodingKey {
            case wycheproofClass = "class"
            case key, cases
        }

        let wycheproofClass: String
        let key: Key
        let cases: [Case]
    }

    struct Key: Decodable {
        let n, e: String
    }

    struct Case: Decodable {
        let name, message, signature, verdict: String
    }

    static let folder = FixtureFolder("rsa-signatures")

    private static func document(_ name: String) throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(try folder.bytes(of: name)))
    }

    @Test func `has every class of Wycheproof`() throws {
        let documents = try Self.folder.names().map { try Self.document($0) }
        let classes = Set(documents.map(\.wycheproofClass))
        #expect(
            classes == [
                "Valid", "BerEncodedPadding", "InvalidAsnInPadding", "ModifiedPadding", "MissingNull",
                "WrongHash", "NoHash", "InvalidPadding", "ShortPadding", "SignatureMalleability",
                "InvalidSignature", "SmallSignature", "EdgeCaseSignature", "WrongPrimitive", "SmallPublicKey",
            ])
        #expect(documents.map(\.cases.count).reduce(0, +) >= 1200)
    }

    @Test(arguments: try folder.names())
    func `judges each signature as its file says, and so does OpenSSL`(file: String) throws {
        let document = try Self.document(file)
        let modulus = try #require(Hexadecimal.decode(document.key.n))
        let exponent = try #require(Hexadecimal.decode(document.key.e))
        guard exponent == [1, 0, 1] else {
            #expect(throws: JOSEError(.keyUnusable)) {
                try RSAPublicKey(modulus: modulus, exponent: exponent)
            }
            #expect(document.cases.allSatisfy { $0.verdict == "refused" })
            return
        }
        let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
        let openSSL = try OpenSSLKey(modulus: modulus, exponent: exponent)
        for item in document.cases {
            let message = try #require(Hexadecimal.decode(item.message))
            let signature = try #require(Hexadecimal.decode(item.signature))
            let isAccepted = item.verdict == "accepted"
            #expect(isAccepted || item.verdict == "refused")
            #expect(key.isValidSignature(signature, for: message[...]) == isAccepted, "\(item.name)")
            #expect(openSSL.isValid(signature, for: message) == isAccepted, "\(item.name)")
        }
    }
}

/// OpenSSL's `EVP_PKEY_verify` as a second opinion about RSA signatures. `RSAPublicKey` uses OpenSSL's big
/// numbers, but does the exponentiation and the comparison of the block itself.
@Suite struct RSADifferentialTests {
    static let rounds = 25_000

    /// Tests 100,000 mutations with four seeds. The key is fixed, so that a seed gives the same mutations
    /// again.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `agrees with OpenSSL about each of 25,000 random mutations`(seed: UInt64) throws {
        let pem = String(decoding: try FixtureFolder("recipe/keys").bytes(of: "signer-1.pem"), as: UTF8.self)
        let jwk = try RSAPrivateKey(pem: pem).publicJWK(keyID: "KEY")
        let modulus = try #require(jwk["n"]?.string.flatMap { Base64URL.decode($0) })
        let key = try RSAPublicKey(modulus: modulus, exponent: [1, 0, 1])
        let openSSL = try OpenSSLKey(pem: pem)
        var mutations = try RSAMutations(openSSL, modulus: modulus, seed: seed)
        var accepted = 0
        for round in 0..<Self.rounds {
            let sample = try mutations.next()
            let verdict = openSSL.isValid(sample.signature, for: sample.message)
            if key.isValidSignature(sample.signature, for: sample.message[...]) != verdict {
                Issue.record("seed \(seed), round \(round), changed \(sample.kind): OpenSSL says \(verdict)")
            }
            if verdict { accepted += 1 }
        }
        // Both verdicts were compared: one in a hundred is left as it is.
        #expect((Self.rounds / 200...Self.rounds / 10).contains(accepted))
    }
}
