import COpenSSL

/// An intermediate certificate that a root has issued, and that stands for the root while both are valid.
final class VerifiedIntermediate: @unchecked Sendable {
    // `@unchecked`: as in `TrustAnchor`, the store is never changed after `init`.
    private let store: TrustStoreHandle
    /// In seconds since 1970.
    let validity: ClosedRange<Int64>

    /// Both certificates are of a chain that OpenSSL has verified.
    init?(_ certificate: OpaquePointer, under root: OpaquePointer) {
        guard let own = CertificateHandle.validity(of: certificate),
            let roots = CertificateHandle.validity(of: root)
        else { return nil }
        let (begin, end) = (max(own.begin, roots.begin), min(own.end, roots.end))
        guard begin <= end, let store = TrustStoreHandle(trusting: certificate) else { return nil }
        self.store = store
        validity = begin...end
    }

    /// Verifies the signature, the validity, and the constraints of a leaf that this certificate has issued.
    ///
    /// - Parameter now: Seconds since 1970, within `validity`.
    func check(_ leaf: OpaquePointer, at now: Int64) throws(CertificateChainError) {
        try store.check(
            leaf, through: nil, flags: X509_V_FLAG_PARTIAL_CHAIN, at: now
        ) { chain throws(CertificateChainError) in
            // The certificate itself is trusted here, and is no leaf.
            guard OPENSSL_sk_num(chain) == 2 else {
                throw CertificateChainError(.untrusted, detail: "a chain of other certificates")
            }
        }
    }
}
