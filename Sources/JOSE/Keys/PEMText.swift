import COpenSSL

/// Keys as text (RFC 7468), in and out of OpenSSL.
enum PEMText {
    /// Reads a private key, and frees it when `body` is done. Throws `.keyUnusable`, and what `body` throws.
    static func withPrivateKey<Result>(
        in pem: String, _ body: (OpaquePointer) throws(JOSEError) -> Result
    ) throws(JOSEError) -> Result {
        let text = Array(pem.utf8)
        let buffer = BIO_new_mem_buf(text, Int32(text.count))
        defer { BIO_free(buffer) }
        guard let key = PEM_read_bio_PrivateKey(buffer, nil, nil, nil) else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: "no PEM private key")
        }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    /// PKCS #8. A secret.
    static func privateKey(_ key: OpaquePointer) -> String? {
        text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// SubjectPublicKeyInfo.
    static func publicKey(_ key: OpaquePointer) -> String? {
        text { PEM_write_bio_PUBKEY($0, key) }
    }

    private static func text(writing write: (OpaquePointer?) -> Int32) -> String? {
        let buffer = BIO_new(BIO_s_mem())
        defer { BIO_free(buffer) }
        guard write(buffer) == 1 else { return nil }
        let size = Int(BIO_ctrl_pending(buffer))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = max(0, Int(BIO_read(buffer, output.baseAddress, Int32(size))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
