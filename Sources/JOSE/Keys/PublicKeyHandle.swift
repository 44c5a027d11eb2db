import COpenSSL

/// Owns one `EVP_PKEY`. Not copyable, so OpenSSL frees it exactly once.
struct PublicKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Builds the key from its numbers (big-endian). OpenSSL checks neither size nor exponent here; the caller has.
    init(modulus: [UInt8], exponent: [UInt8]) throws(JOSEError) {
        let builder = OSSL_PARAM_BLD_new()
        defer { OSSL_PARAM_BLD_free(builder) }
        let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
        let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
        defer {
            BN_free(n)
            BN_free(e)
        }
        guard let builder, OSSL_PARAM_BLD_push_BN(builder, SIWA_RSA_MODULUS, n) == 1,
            OSSL_PARAM_BLD_push_BN(builder, SIWA_RSA_EXPONENT, e) == 1,
            let parameters = OSSL_PARAM_BLD_to_param(builder)
        else {
            throw JOSEError(.keyUnusable, detail: "no parameters")
        }
        defer { OSSL_PARAM_free(parameters) }
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, SIWA_EVP_PKEY_PUBLIC_KEY, parameters) == 1, let key
        else {
            EVP_PKEY_free(key)
            throw JOSEError(.keyUnusable, detail: "no key")
        }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }
}
