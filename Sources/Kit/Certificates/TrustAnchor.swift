import COpenSSL
import Cryptography
import JOSE

/// One root certificate that is trusted. No other root is, also no root of the operating system.
public final class TrustAnchor: @unchecked Sendable {
    // `@unchecked`: the store is never changed after `init`. OpenSSL locks it for every look-up, so that any
    // number of threads can verify with it.
    private let store: TrustStoreHandle
    let intermediates: VerifiedIntermediates

    /// Returns `nil` when the first certificate of the text cannot be read.
    public init?(pem: String) {
        guard let root = PEMText.readCertificate(pem), let store = TrustStoreHandle(trusting: root.pointer)
        else { return nil }
        self.store = store
        // Such constraints are about the leaf, so that another leaf could break them.
        let isConstrained = X509_get_ext_by_NID(root.pointer, NID_name_constraints, -1) >= 0
        intermediates = VerifiedIntermediates(most: isConstrained ? 0 : VerifiedIntermediates.most)
    }

    /// Finds an intermediate certificate among those that this root was verified to have issued, or reads it. Reading
    /// verifies nothing.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: `nil` unless the bytes are exactly one certificate in DER.
    package func intermediate(der: ArraySlice<UInt8>, at now: Int64) -> IntermediateCertificate? {
        let digest = der.withUnsafeBytes { SHA256Digest.hash($0) }
        if let verified = intermediates.find(digest, at: now) {
            return IntermediateCertificate(state: .verified(verified))
        }
        guard let handle = CertificateHandle(der: der) else { return nil }
        return IntermediateCertificate(state: .unverified(IntermediateCertificate.Reading(handle), digest))
    }

    /// Verifies the signatures, the validity, and the constraints of the chain from a leaf through one
    /// intermediate certificate to this root (RFC 5280 §6).
    ///
    /// The use of the leaf's key is not checked, and neither is revocation. The signature of the root is verified
    /// once for an intermediate certificate.
    ///
    /// - Parameters:
    ///   - intermediate: Comes from this root's `intermediate`, for the same time.
    ///   - now: Seconds since 1970.
    package func check(
        _ leaf: borrowing CertificateHandle, through intermediate: IntermediateCertificate, at now: Int64
    ) throws(CertificateChainError) {
        switch intermediate.state {
        case .verified(let verified): try verified.check(leaf.pointer, at: now)
        case .unverified(let reading, let digest):
            try check(leaf.pointer, throughUnverified: reading.handle.pointer, digest, at: now)
        }
    }

    private func check(
        _ leaf: OpaquePointer, throughUnverified intermediate: OpaquePointer, _ digest: SHA256Digest,
        at now: Int64
    ) throws(CertificateChainError) {
        guard let untrusted = OPENSSL_sk_new_null() else {
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        // The list only borrows the certificate.
        defer { OPENSSL_sk_free(untrusted) }
        guard OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate)) > 0 else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        try store.check(leaf, through: untrusted, at: now) { chain throws(CertificateChainError) in
            // Another chain, such as one without the intermediate certificate, says nothing about it.
            guard OPENSSL_sk_num(chain) == 3, let second = OpaquePointer(OPENSSL_sk_value(chain, 1)),
                X509_cmp(second, intermediate) == 0, let root = OpaquePointer(OPENSSL_sk_value(chain, 2))
            else {
                throw CertificateChainError(.untrusted, detail: "a chain of other certificates")
            }
            if let verified = VerifiedIntermediate(second, under: root) {
                intermediates.add(verified, digest)
            }
        }
    }

    /// - Parameter untrusted: A list of certificates. The caller owns it and the certificates in it.
    func check(
        _ leaf: OpaquePointer, through untrusted: OpaquePointer, at now: Int64
    ) throws(CertificateChainError) {
        try store.check(leaf, through: untrusted, at: now)
    }
}
