import COpenSSL

/// An extension of a certificate (RFC 5280 §4.2), with the value in OpenSSL's configuration syntax.
struct CertificateExtension {
    let kind: Int32
    let value: String

    static let authority = [
        CertificateExtension(kind: NID_basic_constraints, value: "critical,CA:TRUE,pathlen:0"),
        CertificateExtension(kind: NID_key_usage, value: "critical,keyCertSign"),
        CertificateExtension(kind: NID_subject_key_identifier, value: "hash"),
    ]

    /// The extensions that strict verifiers require in a server certificate.
    static func server(names: [String]) -> [CertificateExtension] {
        let alternatives = names.map { name in
            // An IPv6 address is the only name with a colon, an IPv4 address the only name without a letter.
            name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." } ? "IP:\(name)" : "DNS:\(name)"
        }
        return [
            CertificateExtension(kind: NID_basic_constraints, value: "critical,CA:FALSE"),
            CertificateExtension(kind: NID_key_usage, value: "critical,digitalSignature"),
            CertificateExtension(kind: NID_ext_key_usage, value: "serverAuth"),
            CertificateExtension(kind: NID_subject_key_identifier, value: "hash"),
            CertificateExtension(kind: NID_authority_key_identifier, value: "keyid:always"),
            CertificateExtension(
                kind: NID_subject_alt_name, value: alternatives.joined(separator: ",")),
        ]
    }

    /// - Parameter issuer: The certificate itself if it is self-signed.
    func add(to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        // The certificates are in OpenSSL's memory, and live longer than the context.
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_nconf_nid(nil, &context, kind, value) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(certificate, made, -1) == 1
    }
}
