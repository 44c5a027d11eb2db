import COpenSSL
package import JOSE

/// Owns one `X509`. Not copyable, so OpenSSL frees it exactly once.
package struct CertificateHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Parses a certificate. Returns `nil` unless the bytes are exactly one DER certificate.
    package init?(der: ArraySlice<UInt8>) {
        // OpenSSL copies whatever it keeps, so the buffer need not outlive the call.
        let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let certificate = d2i_X509(nil, &position, bytes.count) else { return nil }
            guard position == bytes.baseAddress.map({ $0 + bytes.count }) else {
                X509_free(certificate)
                return nil
            }
            return certificate
        }
        guard let certificate else {
            ERR_clear_error()
            return nil
        }
        pointer = certificate
    }

    deinit { X509_free(pointer) }
}

extension CertificateHandle {
    /// Returns the certificate's public key. Throws `.keyUnusable` unless the key is on P-256.
    package borrowing func ecPublicKey() throws(JOSEError) -> ECPublicKey {
        // The certificate owns this key, so it must not be freed here.
        guard let key = X509_get0_pubkey(pointer) else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: "no public key")
        }
        return try ECPublicKey(key)
    }

    /// Returns the DER contents of all extensions with this object identifier.
    ///
    /// - Parameter identifier: Object identifier in dotted decimal form.
    package borrowing func extensionValues(_ identifier: String) -> [[UInt8]] {
        guard let object = OBJ_txt2obj(identifier, 1) else {
            ERR_clear_error()
            return []
        }
        defer { ASN1_OBJECT_free(object) }
        var values: [[UInt8]] = []
        var index = X509_get_ext_by_OBJ(pointer, object, -1)
        while index >= 0 {
            // The certificate owns the extension and its contents, so neither is freed here.
            if let value = X509_EXTENSION_get_data(X509_get_ext(pointer, index)) {
                let bytes = UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
                values.append(Array(bytes))
            }
            index = X509_get_ext_by_OBJ(pointer, object, index)
        }
        return values
    }

    /// Returns the start and end of the validity period in seconds since 1970, or `nil` if OpenSSL cannot
    /// read them.
    package borrowing func validity() -> (begin: Int64, end: Int64)? { Self.validity(of: pointer) }

    static func validity(of certificate: OpaquePointer) -> (begin: Int64, end: Int64)? {
        guard let begin = secondsSince1970(X509_get0_notBefore(certificate)),
            let end = secondsSince1970(X509_get0_notAfter(certificate))
        else { return nil }
        return (begin, end)
    }

    private static func secondsSince1970(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            ERR_clear_error()
            return nil
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

extension PEMText {
    static func certificate(_ certificate: OpaquePointer) -> String? {
        text { PEM_write_bio_X509($0, certificate) }
    }

    /// Parses the first certificate in a PEM string. Returns `nil` if it contains none.
    static func readCertificate(_ pem: String) -> CertificateHandle? {
        guard let certificate = read(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            ERR_clear_error()
            return nil
        }
        return CertificateHandle(owning: certificate)
    }
}
