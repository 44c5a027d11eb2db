import COpenSSL

/// A P-256 private key, as in Apple's files for signing client secrets (`AuthKey_<key ID>.p8`).
public struct ECPrivateKey: Sendable {
    /// PKCS #8 PEM. A secret: never print it.
    public let pem: String
    public let publicKey: ECPublicKey

    /// Generates a key. Throws `.keyUnusable` when OpenSSL fails.
    public static func generate() throws(JOSEError) -> ECPrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else {
            throw JOSEError(.keyUnusable, detail: "generation failed")
        }
        defer { EVP_PKEY_free(key) }
        return try ECPrivateKey(key)
    }

    /// Reads a PEM private key. Throws `.keyUnusable` unless it is a P-256 key.
    public init(pem: String) throws(JOSEError) {
        self = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in try ECPrivateKey(key) }
    }

    private init(_ key: OpaquePointer) throws(JOSEError) {
        publicKey = try ECPublicKey(key)
        guard let pem = PEMText.privateKey(key) else { throw JOSEError(.keyUnusable, detail: "no PEM") }
        self.pem = pem
    }
}
