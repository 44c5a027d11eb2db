import COpenSSL

/// Reads and writes keys as PEM text (RFC 7468) with OpenSSL.
package enum PEMText {
    /// Reads a private key, calls `body` with it, and then frees it. Throws `.keyUnusable` and any error of
    /// `body`.
    package static func withPrivateKey<Result>(
        in pem: String, _ body: (OpaquePointer) throws(JOSEError) -> Result
    ) throws(JOSEError) -> Result {
        // Without this callback, OpenSSL would wait for an encrypted key's passphrase on the terminal.
        let key = read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
        return try use(key, orRefuse: "no PEM private key", body)
    }

    /// Reads a public key, calls `body` with it, and then frees it. Throws `.keyUnusable` and any error of
    /// `body`.
    static func withPublicKey<Result>(
        in pem: String, _ body: (OpaquePointer) throws(JOSEError) -> Result
    ) throws(JOSEError) -> Result {
        let key = read(pem) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
        return try use(key, orRefuse: "no PEM public key", body)
    }

    /// Writes a private key as PKCS #8. The text is secret.
    static func privateKey(_ key: OpaquePointer) -> String? {
        text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// Writes a public key as SubjectPublicKeyInfo.
    static func publicKey(_ key: OpaquePointer) -> String? {
        text { PEM_write_bio_PUBKEY($0, key) }
    }

    /// Reads a key. `BIO_new_mem_buf` keeps a pointer to the text instead of copying it, so this function
    /// uses and frees the BIO while the text is pinned in memory. The result is a copy, which the caller must
    /// free.
    package static func read(_ pem: String, _ parse: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        var pem = pem
        return pem.withUTF8 { text in
            guard let size = Int32(exactly: text.count), size > 0,
                let buffer = BIO_new_mem_buf(text.baseAddress, size)
            else { return nil }
            defer { BIO_free(buffer) }
            return parse(buffer)
        }
    }

    private static func use<Result>(
        _ key: OpaquePointer?, orRefuse detail: String,
        _ body: (OpaquePointer) throws(JOSEError) -> Result
    ) throws(JOSEError) -> Result {
        guard let key else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: detail)
        }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    package static func text(writing write: (OpaquePointer) -> Int32) -> String? {
        guard let buffer = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(buffer) }
        guard write(buffer) == 1 else { return nil }
        let size = Int(BIO_ctrl_pending(buffer))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = max(0, Int(BIO_read(buffer, output.baseAddress, Int32(size))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Owns one private `EVP_PKEY`. Not copyable, so OpenSSL frees it exactly once.
struct PrivateKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }
}

/// Owns one `EVP_PKEY`. Not copyable, so OpenSSL frees it exactly once.
struct PublicKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}
