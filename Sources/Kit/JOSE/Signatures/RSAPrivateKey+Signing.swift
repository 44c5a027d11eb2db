import COpenSSL

extension RSAPrivateKey {
    /// Signs exactly these bytes with RSASSA-PKCS1-v1_5 (RFC 7518 §3.3).
    ///
    /// For the fakes, tests and service accounts: `JWTSigner` always adds `typ` and writes members in alphabetical order,
    /// which Apple's tokens do not have. Throws `.signingFailed`, and `.keyUnusable` when OpenSSL cannot read
    /// the key back.
    public func signature(
        for message: [UInt8], with hash: HashFunction = .sha256
    ) throws(JOSEError) -> [UInt8] {
        try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var count = Int(EVP_PKEY_get_size(key))
            let signature = [UInt8](unsafeUninitializedCapacity: count) { output, written in
                let isSigned =
                    EVP_DigestSignInit(context, nil, hash.digest, nil, key) == 1
                    && EVP_DigestSign(context, output.baseAddress, &count, message, message.count) == 1
                written = isSigned ? count : 0
            }
            guard !signature.isEmpty else {
                ERR_clear_error()
                throw JOSEError(.signingFailed, detail: "RSA with \(hash.name)")
            }
            return signature
        }
    }
}
