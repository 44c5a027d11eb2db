import COpenSSL
import JOSE

/// One root certificate that is trusted. No other root is, also no root of the operating system.
public final class TrustAnchor: @unchecked Sendable {
    // `@unchecked`: the store is never changed after `init`. OpenSSL locks it for every look-up, so that any
    // number of threads can verify with it.
    private let store: TrustStoreHandle

    /// Returns `nil` when the first certificate of the text cannot be read.
    public init?(pem: String) {
        // OpenSSL counts the store's own reference to the certificate.
        guard let root = PEMText.readCertificate(pem), let store = X509_STORE_new() else { return nil }
        self.store = TrustStoreHandle(owning: store)
        guard X509_STORE_add_cert(store, root.pointer) == 1 else {
            ERR_clear_error()
            return nil
        }
    }

    /// Verifies the signatures, the validity, and the constraints of the chain from a leaf through one
    /// intermediate certificate to this root (RFC 5280 §6).
    ///
    /// The use of the leaf's key is not checked, and neither is revocation.
    ///
    /// - Parameter now: Seconds since 1970.
    package func check(
        _ leaf: borrowing CertificateHandle, through intermediate: borrowing CertificateHandle, at now: Int64
    ) throws(CertificateChainError) {
        guard let untrusted = OPENSSL_sk_new_null() else {
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        // The list only borrows the certificate.
        defer { OPENSSL_sk_free(untrusted) }
        guard OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate.pointer)) > 0 else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        try check(leaf.pointer, through: untrusted, at: now)
    }

    /// - Parameter untrusted: A list of certificates. The caller owns it and the certificates in it.
    func check(
        _ leaf: OpaquePointer, through untrusted: OpaquePointer, at now: Int64
    ) throws(CertificateChainError) {
        guard let context = X509_STORE_CTX_new() else {
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        // It borrows the leaf and the list, and is freed before this method returns.
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, store.pointer, leaf, untrusted) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no context")
        }
        X509_VERIFY_PARAM_set_time(parameters, time_t(now))
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        guard X509_verify_cert(context) != 1 else { return }
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
        throw CertificateChainError(code, detail: detail)
    }

    /// 112 bits: RSA of 2048 bits, curves of 224 bits, SHA-224.
    private static let securityLevel: Int32 = 2
}
