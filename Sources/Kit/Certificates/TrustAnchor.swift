import COpenSSL
import Cryptography
import Encodings
import JOSE
import Synchronization

/// A trusted root certificate. Verification trusts no other root, not even the operating system's roots.
public final class TrustAnchor: @unchecked Sendable {
    // `@unchecked`: the store never changes after `init`, and OpenSSL locks it for every look-up, so any
    // number of threads can use it at the same time.
    private let store: TrustStoreHandle
    let intermediates: VerifiedIntermediates

    /// Parses a PEM certificate. Returns `nil` if OpenSSL cannot read the first certificate in the string.
    public init?(pem: String) {
        guard let root = PEMText.readCertificate(pem), let store = TrustStoreHandle(trusting: root.pointer)
        else { return nil }
        self.store = store
        // Name constraints depend on the leaf: a chain through the same intermediate certificate can be valid
        // for one leaf and not for another. So a constrained root caches no intermediate certificates.
        let isConstrained = X509_get_ext_by_NID(root.pointer, NID_name_constraints, -1) >= 0
        intermediates = VerifiedIntermediates(most: isConstrained ? 0 : VerifiedIntermediates.most)
    }

    /// Returns an intermediate certificate: a cached certificate that this root is known to have issued, or
    /// otherwise the parsed bytes. Parsing verifies nothing.
    ///
    /// - Parameter now: Current time in seconds since 1970.
    /// - Returns: `nil` unless the bytes are exactly one DER certificate.
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
    /// It checks neither revocation nor the leaf's key usage. It verifies the root's signature only once for
    /// each intermediate certificate.
    ///
    /// - Parameters:
    ///   - intermediate: The result of calling `intermediate` on the same root for the same time.
    ///   - now: Current time in seconds since 1970.
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
        // The list only borrows the certificate, so only the list is freed here.
        defer { OPENSSL_sk_free(untrusted) }
        guard OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate)) > 0 else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        try store.check(leaf, through: untrusted, at: now) { chain throws(CertificateChainError) in
            // Any other chain, such as one without the intermediate certificate, would not prove that the
            // root issued the intermediate certificate.
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

    /// - Parameter untrusted: Certificate list. The caller owns the list and the certificates in it.
    func check(
        _ leaf: OpaquePointer, through untrusted: OpaquePointer, at now: Int64
    ) throws(CertificateChainError) {
        try store.check(leaf, through: untrusted, at: now)
    }
}

/// Reason a certificate is not trusted.
package struct CertificateChainError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// The certificate does not chain to the trust anchor.
        case untrusted
        case expired
        case notYetValid = "not_yet_valid"
    }

    package let code: Code
    /// Explanation of the failure, often in OpenSSL's words.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension CertificateChainError: CustomDebugStringConvertible {
    package var description: String { "certificate: \(code.rawValue)" }
    package var debugDescription: String { "\(description) (\(detail))" }
}

/// A chain's intermediate certificate, as returned by `TrustAnchor.intermediate`.
package struct IntermediateCertificate {
    enum State {
        case verified(VerifiedIntermediate)
        case unverified(Reading, SHA256Digest)
    }

    /// A parsed but unverified certificate.
    final class Reading {
        let handle: CertificateHandle

        init(_ handle: consuming CertificateHandle) { self.handle = handle }
    }

    let state: State
}

/// A cache of intermediate certificates that a root is known to have issued. It saves verifying the root's
/// signature again, which is half the cost of verifying a P-384 chain.
///
/// An entry is added only after its chain has been verified up to the root. So a caller cannot fill the
/// cache, and the root has signed every certificate in it. Each entry is keyed by the digest of the whole
/// certificate, so a certificate that differs in a single byte has no entry.
final class VerifiedIntermediates: Sendable {
    /// The maximum number of entries. A root has one intermediate certificate, or two while one replaces the
    /// other.
    static let most = 8

    private let most: Int
    private let entries = Mutex<[SHA256Digest: VerifiedIntermediate]>([:])

    init(most: Int) { self.most = most }

    var count: Int { entries.withLock { $0.count } }

    /// Returns `nil` for a certificate that was not verified or is not valid at this time. The verification
    /// up to the root then determines the reason.
    func find(_ digest: SHA256Digest, at now: Int64) -> VerifiedIntermediate? {
        guard let entry = entries.withLock({ $0[digest] }), entry.validity.contains(now) else { return nil }
        return entry
    }

    /// Adds an entry. A full cache first drops the entry that expires first.
    func add(_ entry: VerifiedIntermediate, _ digest: SHA256Digest) {
        guard most > 0 else { return }
        entries.withLock { entries in
            if entries.count >= most, entries[digest] == nil {
                let first = entries.min { $0.value.validity.upperBound < $1.value.validity.upperBound }
                if let first { entries[first.key] = nil }
            }
            entries[digest] = entry
        }
    }
}

/// An intermediate certificate that a root has issued. It replaces the root as the trust anchor while both
/// certificates are valid.
final class VerifiedIntermediate: @unchecked Sendable {
    // `@unchecked`: the store never changes after `init`, as in `TrustAnchor`.
    private let store: TrustStoreHandle
    /// Period in which the certificate and the root are both valid, in seconds since 1970.
    let validity: ClosedRange<Int64>

    /// Creates the entry from two certificates of a chain that OpenSSL has verified.
    init?(_ certificate: OpaquePointer, under root: OpaquePointer) {
        guard let own = CertificateHandle.validity(of: certificate),
            let roots = CertificateHandle.validity(of: root)
        else { return nil }
        let (begin, end) = (max(own.begin, roots.begin), min(own.end, roots.end))
        guard begin <= end, let store = TrustStoreHandle(trusting: certificate) else { return nil }
        self.store = store
        validity = begin...end
    }

    /// Verifies the signature, validity and constraints of a leaf that this certificate has issued.
    ///
    /// - Parameter now: Current time in seconds since 1970. It must be within `validity`.
    func check(_ leaf: OpaquePointer, at now: Int64) throws(CertificateChainError) {
        try store.check(
            leaf, through: nil, flags: X509_V_FLAG_PARTIAL_CHAIN, at: now
        ) { chain throws(CertificateChainError) in
            // The chain must have exactly two certificates, because the intermediate certificate is trusted
            // here and must not be accepted as a leaf.
            guard OPENSSL_sk_num(chain) == 2 else {
                throw CertificateChainError(.untrusted, detail: "a chain of other certificates")
            }
        }
    }
}

/// Owns one `X509_STORE`. Not copyable, so OpenSSL frees it exactly once.
struct TrustStoreHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Creates a store that trusts one certificate, and holds its own reference to that certificate. Returns
    /// `nil` if OpenSSL refuses the certificate.
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

    /// OpenSSL's 112-bit security level. It requires at least RSA-2048, 224-bit curves and SHA-224.
    private static let securityLevel: Int32 = 2

    /// Verifies the signatures, validity and constraints of a chain that ends at a certificate in this store
    /// (RFC 5280 §6).
    ///
    /// - Parameters:
    ///   - untrusted: Certificate list, or `nil`. The caller owns the list and the certificates in it.
    ///   - flags: OpenSSL's verification flags (`X509_V_FLAG_…`).
    ///   - now: Current time in seconds since 1970.
    ///   - body: Function that receives the verified chain. The list is valid only until the function
    ///     returns.
    borrowing func check(
        _ leaf: OpaquePointer, through untrusted: OpaquePointer?, flags: Int32 = 0, at now: Int64,
        body: (OpaquePointer) throws(CertificateChainError) -> Void = { _ in }
    ) throws(CertificateChainError) {
        guard let context = X509_STORE_CTX_new() else {
            throw CertificateChainError(.untrusted, detail: "no memory")
        }
        // The context borrows the leaf and the list, so it must be freed before this method returns.
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

    /// Accepts a certificate during its `notAfter` second, which is still part of the validity period (RFC
    /// 5280 §4.1.2.5). OpenSSL already treats it as expired then. All other errors remain errors.
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
        // A refused certificate leaves entries in the thread's error queue, and no other code would remove
        // them.
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
