import COpenSSL

/// A parsed but unverified signed message (CMS SignedData, RFC 5652 §5) with its content. Not copyable, so
/// OpenSSL frees it exactly once.
///
/// The initializer accepts BER, because Apple encodes receipts in BER. Callers must read the content from
/// `verifiedContent`, never from the message bytes.
package struct SignedMessage: ~Copyable {
    private let pointer: OpaquePointer

    /// The maximum number of certificates in a message. A message contains the signer's certificate, an
    /// intermediate certificate and sometimes the root, so more certificates would only cost time.
    private static let mostCertificates = 4

    /// Parses a message. Returns `nil` unless the bytes are exactly one signed message with content, one
    /// signer and the signer's certificate.
    package init?(_ bytes: [UInt8]) {
        // OpenSSL copies whatever it keeps, so the buffer need not outlive the call.
        let message = bytes.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let message = d2i_CMS_ContentInfo(nil, &position, bytes.count) else { return nil }
            guard position == bytes.baseAddress.map({ $0 + bytes.count }) else {
                CMS_ContentInfo_free(message)
                return nil
            }
            return message
        }
        guard let message else {
            ERR_clear_error()
            return nil
        }
        guard Self.hasOneSigner(message) else {
            ERR_clear_error()
            CMS_ContentInfo_free(message)
            return nil
        }
        pointer = message
    }

    deinit { CMS_ContentInfo_free(pointer) }

    private static func hasOneSigner(_ message: OpaquePointer) -> Bool {
        // The message owns the signer and the content, so neither is freed here.
        guard OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed,
            OPENSSL_sk_num(CMS_get0_SignerInfos(message)) == 1,
            let content = CMS_get0_content(message), content.pointee != nil,
            let certificates = CMS_get1_certs(message)
        else { return false }
        defer { free(certificates: certificates) }
        return (1...Int32(mostCertificates)).contains(OPENSSL_sk_num(certificates))
            && CMS_set1_signers_certs(message, nil, 0) == 1
    }

    private static func free(certificates: OpaquePointer) {
        OPENSSL_sk_pop_free(certificates) { certificate in X509_free(OpaquePointer(certificate)) }
    }

    /// Verifies the chain from the signer's certificate to the root, through the certificates in the message.
    /// It does not verify the message's signature.
    ///
    /// - Parameter now: Current time in seconds since 1970.
    package borrowing func checkSigner(
        under root: TrustAnchor, at now: Int64
    ) throws(CertificateChainError) {
        // Only the list must be freed here: the message owns the certificates in it.
        guard let signers = CMS_get0_signers(pointer) else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no signer")
        }
        defer { OPENSSL_sk_free(signers) }
        guard OPENSSL_sk_num(signers) == 1, let signer = OpaquePointer(OPENSSL_sk_value(signers, 0)),
            let certificates = CMS_get1_certs(pointer)
        else {
            ERR_clear_error()
            throw CertificateChainError(.untrusted, detail: "no certificate of the signer")
        }
        defer { Self.free(certificates: certificates) }
        try root.check(signer, through: certificates, at: now)
    }

    /// Returns the content if the signer's certificate signed it, and `nil` otherwise. It does not verify the
    /// certificate itself; `checkSigner` does.
    package borrowing func verifiedContent() -> [UInt8]? {
        guard let output = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(output) }
        let flags = UInt32(CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY)
        guard CMS_verify(pointer, nil, nil, nil, output, flags) == 1 else {
            ERR_clear_error()
            return nil
        }
        let size = Int(BIO_ctrl_pending(output))
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            count = max(0, Int(BIO_read(output, bytes.baseAddress, Int32(size))))
        }
    }
}
