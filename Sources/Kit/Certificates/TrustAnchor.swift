import COpenSSL
import Cryptography
import Encodings
import JOSE
import Synchronization

/// One trusted root certificate. No other root is trusted, not even a root of the operating system.
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
        // Name constraints depend on the leaf: a chain through the same intermediate certificate
        // can be valid for one leaf and not for another.
        let isConstrained = X509_get_ext_by_NID(root.pointer, NID_name_constraints, -1) >= 0
        intermediates = VerifiedIntermediates(most: isConstrained ? 0 : VerifiedIntermediates.most)
    }

    /// Finds an intermediate certificate among the certificates that this root was verified to have
    /// issued, or reads it. Reading verifies nothing.
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
    /// It does not check the use of the leaf's key or revocation. It verifies the signature of the
    /// root once for each intermediate certificate.
    ///
    /// - Parameters:
    ///   - intermediate: A certificate from this root's `intermediate`, for the same time.
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
            // A different chain, such as one without the intermediate certificate, proves nothing about it.
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

/// Reason why a certificate is not trusted.
package struct CertificateChainError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// No valid chain of signatures to the trust anchor.
        case untrusted
        case expired
        case notYetValid = "not_yet_valid"
    }

    package let code: Code
    /// OpenSSL's reason.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension CertificateChainError: CustomDebugStringConvertible {
    package var description: String { "certificate: \(code.rawValue)" }
    package var debugDescription: String { "\(description) (\(detail))" }
}

/// The intermediate certificate of a chain, as `TrustAnchor.intermediate` finds or reads it.
package struct IntermediateCertificate {
    enum State {
        case verified(VerifiedIntermediate)
        case unverified(Reading, SHA256Digest)
    }

    /// A certificate that was read and not verified.
    final class Reading {
        let handle: CertificateHandle

        init(_ handle: consuming CertificateHandle) { self.handle = handle }
    }

    let state: State
}

/// The intermediate certificates that a root was verified to have issued. The memory saves the repeated
/// verification of the root's signature, which is half of the cost of a chain on P-384.
///
/// Only a chain that was verified up to the root adds an entry. So a caller cannot fill this memory, and the
/// root has signed every certificate in it. The key of an entry is the digest of the whole certificate: a
/// certificate that differs in one byte has no entry.
final class VerifiedIntermediates: Sendable {
    /// Largest number of entries. A root has one intermediate certificate, or two during a replacement.
    static let most = 8

    private let most: Int
    private let entries = Mutex<[SHA256Digest: VerifiedIntermediate]>([:])

    init(most: Int) { self.most = most }

    var count: Int { entries.withLock { $0.count } }

    /// Returns `nil` for a certificate that was not verified, or is not valid at this time: the verification
    /// up to the root then names the reason.
    func find(_ digest: SHA256Digest, at now: Int64) -> VerifiedIntermediate? {
        guard let entry = entries.withLock({ $0[digest] }), entry.validity.contains(now) else { return nil }
        return entry
    }

    /// Drops the entry that ends first when the memory is full.
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

/// An intermediate certificate that a root has issued. It replaces
/// the root as trust anchor while both are valid.
final class VerifiedIntermediate: @unchecked Sendable {
    // `@unchecked`: as in `TrustAnchor`, the store is never changed after `init`.
    private let store: TrustStoreHandle
    /// In seconds since 1970.
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

    /// Verifies the signature, the validity, and the constraints of a leaf that this certificate has issued.
    ///
    /// - Parameter now: Seconds since 1970, within `validity`.
    func check(_ leaf: OpaquePointer, at now: Int64) throws(CertificateChainError) {
        try store.check(
            leaf, through: nil, flags: X509_V_FLAG_PARTIAL_CHAIN, at: now
        ) { chain throws(CertificateChainError) in
            // The trusted certificate is the intermediate certificate itself, which must not pass as a leaf.
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

    /// Security level of 112 bits: RSA of 2048 bits, curves of 224 bits, SHA-224.
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
        // The context borrows the leaf and the list, and is freed before this method returns.
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

    /// Accepts a certificate in the second of its `notAfter`, which belongs to the validity (RFC 5280
    /// §4.1.2.5). OpenSSL treats it as expired in that second. Every other error stays.
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
