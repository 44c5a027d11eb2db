// Certificates owns X.509: server certificates for development machines, and the verification of certificate
// chains up to one pinned root. It does not own the contents of Apple's device certificates.

import COpenSSL
import Cryptography
public import JOSE

/// A server certificate for a development machine, with the certificate authority that clients must trust.
///
/// The authority signs only this certificate, and its private key is never stored. So an attacker who reads
/// the files cannot sign other certificates that the clients would trust.
public struct ServerCertificate: Sendable {
    /// The authority's PEM certificate, which clients must trust.
    public let authority: String
    /// Server certificate in PEM.
    public let certificate: String
    /// The server's private key in PKCS #8 PEM. It is secret, so never print it.
    public let privateKey: String

    /// Lifetime in days. Apple's clients reject server certificates that are valid for more than 825 days.
    public static let lifetime = 365

    /// Generates P-256 keys and both certificates (RFC 5280).
    ///
    /// - Parameters:
    ///   - names: Lower-case host names, and IP addresses without brackets. The first name is also the
    ///     subject's common name.
    ///   - now: Current time in seconds since 1970.
    /// - Throws: `.signingFailed` if a name is invalid or OpenSSL fails.
    public static func make(names: [String], at now: Int64) throws(JOSEError) -> ServerCertificate {
        // A comma or a line break in a name could inject an extension, so such names are refused.
        guard let first = names.first, names.allSatisfy(isName) else {
            throw JOSEError(.signingFailed, detail: "a name that is none")
        }
        let (root, server) = (try ECPrivateKey.generate(), try ECPrivateKey.generate())
        return try PEMText.withPrivateKey(in: root.pem) { rootKey throws(JOSEError) in
            let authority = try certificate(
                of: rootKey, name: "siwa emulate: \(first) on one machine", at: now)
            try finish(
                authority, with: CertificateExtension.authority, issuer: authority.pointer, by: rootKey)
            return try PEMText.withPrivateKey(in: server.pem) { serverKey throws(JOSEError) in
                let shown = try certificate(of: serverKey, name: first, at: now)
                guard X509_set_issuer_name(shown.pointer, X509_get_subject_name(authority.pointer)) == 1
                else {
                    throw JOSEError(.signingFailed, detail: "no issuer")
                }
                try finish(
                    shown, with: CertificateExtension.server(names: names), issuer: authority.pointer,
                    by: rootKey)
                guard let trusted = PEMText.certificate(authority.pointer),
                    let certificate = PEMText.certificate(shown.pointer)
                else { throw JOSEError(.signingFailed, detail: "no PEM") }
                return ServerCertificate(
                    authority: trusted, certificate: certificate, privateKey: server.pem)
            }
        }
    }

    /// Returns true if the first certificate in a PEM string is valid at this time and for all names. It does
    /// not verify the signature.
    public static func isGood(_ pem: String, for names: [String], at moment: Int64) -> Bool {
        guard let certificate = PEMText.readCertificate(pem), let validity = certificate.validity(),
            validity.begin <= moment, moment <= validity.end
        else { return false }
        return names.allSatisfy { name in
            X509_check_host(certificate.pointer, name, 0, 0, nil) == 1
                || X509_check_ip_asc(certificate.pointer, name, 0) == 1
        }
    }

    /// Creates an unsigned certificate without extensions. It names its own subject as its issuer.
    private static func certificate(
        of key: OpaquePointer, name: String, at now: Int64
    ) throws(JOSEError) -> CertificateHandle {
        guard let made = X509_new() else { throw JOSEError(.signingFailed, detail: "no memory") }
        let certificate = CertificateHandle(owning: made)
        let subject = X509_get_subject_name(made)
        // Another machine's clock may be slow, so the validity begins an hour ago.
        let begin = time_t(now - 3600)
        let end = time_t(now + Int64(lifetime) * 86_400)
        guard X509_set_version(made, 2) == 1, setSerialNumber(of: made),
            ASN1_TIME_set(X509_getm_notBefore(made), begin) != nil,
            ASN1_TIME_set(X509_getm_notAfter(made), end) != nil,
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG, name, -1, -1, 0) == 1,
            X509_set_issuer_name(made, subject) == 1, X509_set_pubkey(made, key) == 1
        else {
            throw JOSEError(.signingFailed, detail: "OpenSSL refused a field")
        }
        return certificate
    }

    /// Sets a random 127-bit serial number. A serial number must be positive and have at most 20 octets (RFC
    /// 5280 §4.1.2.2).
    private static func setSerialNumber(of certificate: OpaquePointer) -> Bool {
        var bytes = SecureRandom.bytes(count: 16)
        bytes[0] &= 0x7F
        guard let number = BigNumber(bytes) else { return false }
        return BN_to_ASN1_INTEGER(number.pointer, X509_get_serialNumber(certificate)) != nil
    }

    /// Adds the extensions to the certificate and then signs it.
    private static func finish(
        _ certificate: borrowing CertificateHandle, with extensions: [CertificateExtension],
        issuer: OpaquePointer, by key: OpaquePointer
    ) throws(JOSEError) {
        for item in extensions {
            guard item.add(to: certificate.pointer, issuer: issuer) else {
                throw JOSEError(.signingFailed, detail: item.value)
            }
        }
        guard X509_sign(certificate.pointer, key, EVP_sha256()) > 0 else {
            throw JOSEError(.signingFailed, detail: "a certificate")
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}

/// A certificate extension (RFC 5280 §4.2), with its value in OpenSSL's configuration syntax.
struct CertificateExtension {
    let kind: Int32
    let value: String

    static let authority = [
        CertificateExtension(kind: NID_basic_constraints, value: "critical,CA:TRUE,pathlen:0"),
        CertificateExtension(kind: NID_key_usage, value: "critical,keyCertSign"),
        CertificateExtension(kind: NID_subject_key_identifier, value: "hash"),
    ]

    /// Returns the extensions that strict verifiers require in a server certificate.
    static func server(names: [String]) -> [CertificateExtension] {
        let alternatives = names.map { name in
            // Only an IPv6 address contains a colon, and any other name without letters is an IPv4 address.
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

    /// Adds the extension to a certificate. Returns false if OpenSSL fails. The issuer of a self-signed
    /// certificate is the certificate itself.
    func add(to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        // The context only borrows both certificates, which outlive the context.
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_nconf_nid(nil, &context, kind, value) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(certificate, made, -1) == 1
    }
}
