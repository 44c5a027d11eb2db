import COpenSSL

/// Owns one `X509_STORE`. Not copyable, so OpenSSL frees it exactly once.
struct TrustStoreHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Trusts one certificate. Returns `nil` when OpenSSL refuses it. OpenSSL counts the store's own reference.
    init?(trusting certificate: OpaquePointer) {
        guard let store = X509_STORE_new() else { return nil }
        guard X509_STORE_add_cert(store, certificate) == 1 else {
            X509_STORE_free(store)
            ERR_clear_error()
            return nil
        }
        pointer = store
    }

    deinit { X509_STORE_free(pointer) }

    /// 112 bits: RSA of 2048 bits, curves of 224 bits, SHA-224.
    private static let securityLevel: Int32 = 2

    /// Verifies the signatures, the validity, and the constraints of a chain that ends in this store (RFC 5280 §6).
    ///
    /// - Parameters:
    ///   - untrusted: A list of certificates, or `nil`. The caller owns it and the certificates in it.
    ///   - flags: OpenSSL's `X509_V_FLAG_…`.
    ///   - now: Seconds since 1970.
    ///   - body: Called with the verified chain, a list that is valid until it returns.
    borrowing func check(
        _ leaf: OpaquePointer, through untrusted: OpaquePointer?, flags: Int32 = 0, at now: Int64,
        body: (OpaquePointer) throws(CertificateChainError) -> Void = { _ in }
    ) throws(CertificateChainError) {
        guard let context = X509_STORE_CTX_new() else {
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        // It borrows the leaf and the list, and is freed before this method returns.
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, pointer, leaf, untrusted) == 1,
            let parameters = X509_STORE_CTX_get0_param(context),
            X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)) == 1
        else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no context")
        }
        X509_VERIFY_PARAM_set_time(parameters, time_t(now))
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        X509_STORE_CTX_set_verify_cb(context, Self.acceptsLastSecond)
        guard X509_verify_cert(context) == 1 else { throw Self.error(of: context) }
        guard let chain = X509_STORE_CTX_get0_chain(context) else {
            throw CertificateChainError(.untrusted, detail: "no chain")
        }
        try body(chain)
    }

    /// Accepts a certificate in the second of its `notAfter`, which belongs to the validity (RFC 5280 §4.1.2.5).
    /// For OpenSSL it has expired by then. Every other error stays.
    private static let acceptsLastSecond: @convention(c) (Int32, OpaquePointer?) -> Int32 = {
        isGood, context in
        guard isGood == 0, let context,
            X509_STORE_CTX_get_error(context) == X509_V_ERR_CERT_HAS_EXPIRED,
            let certificate = X509_STORE_CTX_get_current_cert(context),
            let parameters = X509_STORE_CTX_get0_param(context),
            CertificateHandle.validity(of: certificate)?.end == Int64(X509_VERIFY_PARAM_get_time(parameters))
        else { return isGood }
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return 1
    }

    private static func error(of context: OpaquePointer) -> CertificateChainError {
        let status = X509_STORE_CTX_get_error(context)
        // A refused certificate leaves entries in the thread's error queue, which would never be read.
        ERR_clear_error()
        let detail = X509_verify_cert_error_string(Int(status)).map { String(cString: $0) } ?? "unknown"
        let code: CertificateChainError.Code =
            switch status {
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            default: .untrusted
            }
        return CertificateChainError(code, detail: detail)
    }
}
