import COpenSSL

/// A P-256 private key, as Apple gives one out for signing client secrets (`AuthKey_<key ID>.p8`).
public struct ECPrivateKey: Sendable {
    /// PKCS #8 PEM. A secret: never print it.
    public let pem: String
    public let publicKey: ECPublicKey

    /// Throws `.keyUnusable` when OpenSSL cannot.
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

    /// Reads a PEM private key. Throws `.keyUnusable` for anything that is not a key on P-256.
    public init(pem: String) throws(JOSEError) {
        let text = Array(pem.utf8)
        let buffer = BIO_new_mem_buf(text, Int32(text.count))
        defer { BIO_free(buffer) }
        guard let key = PEM_read_bio_PrivateKey(buffer, nil, nil, nil) else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: "no PEM private key")
        }
        defer { EVP_PKEY_free(key) }
        try self.init(key)
    }

    private init(_ key: OpaquePointer) throws(JOSEError) {
        publicKey = try ECPublicKey(key)
        let buffer = BIO_new(BIO_s_mem())
        defer { BIO_free(buffer) }
        guard PEM_write_bio_PrivateKey(buffer, key, nil, nil, 0, nil, nil) == 1 else {
            throw JOSEError(.keyUnusable, detail: "no PEM")
        }
        let size = Int(BIO_ctrl_pending(buffer))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = max(0, Int(BIO_read(buffer, output.baseAddress, Int32(size))))
        }
        pem = String(decoding: bytes, as: UTF8.self)
    }
}
