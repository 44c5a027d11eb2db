import JOSE
import StrictJSON
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

    @Test func `reads its own private key back from PEM`() throws {
        let key = TokenMint.shared.privateKey
        #expect(try RSAPrivateKey(pem: key.pem).publicKeyPEM == key.publicKeyPEM)
        #expect(throws: JOSEError(.keyUnusable)) {
            try RSAPrivateKey(pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n")
        }
    }
}
