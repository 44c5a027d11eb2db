import Encodings
import JOSE
import StrictJSON
import TestSupport
import Testing

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
