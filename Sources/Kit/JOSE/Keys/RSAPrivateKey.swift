import COpenSSL
import Encodings
public import StrictJSON

/// An RSA private key: of the fakes, of tests, and of an operator's service account. Verification does not
/// need it.
public struct RSAPrivateKey: Sendable {
    /// PKCS #8 PEM. A secret: never print it.
    public let pem: String
    /// SubjectPublicKeyInfo PEM.
    public let publicKeyPEM: String
    private let modulus: [UInt8]
    private let exponent: [UInt8]

    /// Generates a key, which takes about a second for 2048 bits on a slow machine. Throws `.keyUnusable`.
    public static func generate(bits: Int = 2048) throws(JOSEError) -> RSAPrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else {
            throw JOSEError(.keyUnusable, detail: "generation failed")
        }
        defer { EVP_PKEY_free(key) }
        return try RSAPrivateKey(key)
    }

    /// Reads a PEM private key. Throws `.keyUnusable` unless it is an RSA key.
    public init(pem: String) throws(JOSEError) {
        self = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in try RSAPrivateKey(key) }
    }

    /// The public key as an entry of a key set, with exactly the members of Apple's entries.
    public func publicJWK(keyID: String) -> JSONObject {
        JSONObject([
            ("kty", .string("RSA")), ("kid", .string(keyID)), ("use", .string("sig")),
            ("alg", .string("RS256")),
            ("n", .string(Base64URL.encode(modulus))), ("e", .string(Base64URL.encode(exponent))),
        ])
    }

    /// The public key, if verifiers accept it.
    public func publicKey() throws(JOSEError) -> RSAPublicKey {
        try RSAPublicKey(modulus: modulus, exponent: exponent)
    }

    private init(_ key: OpaquePointer) throws(JOSEError) {
        guard let modulus = Self.number(OSSL_PKEY_PARAM_RSA_N, of: key),
            let exponent = Self.number(OSSL_PKEY_PARAM_RSA_E, of: key),
            let pem = PEMText.privateKey(key),
            let publicKeyPEM = PEMText.publicKey(key)
        else {
            throw JOSEError(.keyUnusable, detail: "not an RSA key")
        }
        (self.modulus, self.exponent) = (modulus, exponent)
        (self.pem, self.publicKeyPEM) = (pem, publicKeyPEM)
    }

    private static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var value: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &value) == 1, let value else { return nil }
        defer { BN_free(value) }
        let size = Int(BN_num_bits(value) + 7) / 8
        return [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = Int(BN_bn2bin(value, output.baseAddress))
        }
    }
}
