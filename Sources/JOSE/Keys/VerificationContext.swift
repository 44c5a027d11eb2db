import COpenSSL

/// What OpenSSL needs to verify one signature, set up once and used again: a digest context and a key context that is
/// initialized for RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2.2).
///
/// Used by one thread at a time.
struct VerificationContext: ~Copyable {
    private let digestContext: OpaquePointer
    private let keyContext: OpaquePointer

    init?(key: OpaquePointer, digest: OpaquePointer) {
        let digestContext = EVP_MD_CTX_new()
        let keyContext = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
        guard let digestContext, let keyContext,
            EVP_PKEY_verify_init(keyContext) == 1,
            EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(keyContext, digest) == 1,
            EVP_DigestInit_ex(digestContext, digest, nil) == 1
        else {
            EVP_MD_CTX_free(digestContext)
            EVP_PKEY_CTX_free(keyContext)
            return nil
        }
        self.digestContext = digestContext
        self.keyContext = keyContext
    }

    borrowing func isValid(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)) { hash in
            var size: UInt32 = 0
            let isHashed = message.withUnsafeBufferPointer { message in
                EVP_DigestInit_ex(digestContext, nil, nil) == 1
                    && EVP_DigestUpdate(digestContext, message.baseAddress, message.count) == 1
                    && EVP_DigestFinal_ex(digestContext, hash.baseAddress, &size) == 1
            }
            guard isHashed else { return false }
            return EVP_PKEY_verify(keyContext, signature, signature.count, hash.baseAddress, Int(size)) == 1
        }
    }

    deinit {
        EVP_MD_CTX_free(digestContext)
        EVP_PKEY_CTX_free(keyContext)
    }
}
