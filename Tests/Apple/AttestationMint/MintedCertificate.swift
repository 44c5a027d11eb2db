import COpenSSL
import JOSE

/// An X.509 certificate of a test.
public struct MintedCertificate: Sendable {
    public let der: [UInt8]
    public let pem: String

    /// - Parameters:
    ///   - key: The key of the subject.
    ///   - issuer: The name and the key of the issuer; the subject itself if it is self-signed.
    ///   - validity: Seconds since 1970.
    ///   - extensions: Object identifiers and contents in DER.
    init(
        of key: MintedKey, name: String, by issuer: (name: String, key: MintedKey),
        validity: ClosedRange<Int64>, isAuthority: Bool, extensions: [(String, [UInt8])] = []
    ) throws {
        guard let certificate = X509_new() else { throw MintError(failed: "a certificate") }
        defer { X509_free(certificate) }
        try key.withKey { key in
            guard X509_set_version(certificate, 2) == 1,
                ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int(name.utf8.count)) == 1,
                ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(validity.lowerBound)) != nil,
                ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(validity.upperBound)) != nil,
                Self.add(name, to: X509_get_subject_name(certificate)),
                Self.add(issuer.name, to: X509_get_issuer_name(certificate)),
                X509_set_pubkey(certificate, key) == 1
            else { throw MintError(failed: "a certificate") }
        }
        let constraints = isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE"
        let usage = isAuthority ? "critical,keyCertSign" : "critical,digitalSignature"
        for (kind, value) in [(NID_basic_constraints, constraints), (NID_key_usage, usage)] {
            guard let made = X509V3_EXT_nconf_nid(nil, nil, kind, value) else {
                throw MintError(failed: value)
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw MintError(failed: value) }
        }
        for (identifier, content) in extensions { try Self.add(content, as: identifier, to: certificate) }
        try issuer.key.withKey { key in
            guard X509_sign(certificate, key, EVP_sha256()) > 0 else {
                throw MintError(failed: "a certificate")
            }
        }
        guard let pem = PEMText.text(writing: { PEM_write_bio_X509($0, certificate) }) else {
            throw MintError(failed: "PEM")
        }
        self.pem = pem
        der = [UInt8](unsafeUninitializedCapacity: max(0, Int(i2d_X509(certificate, nil)))) { buffer, count in
            var position = buffer.baseAddress
            count = Int(i2d_X509(certificate, &position))
        }
    }

    private static func add(_ name: String, to subject: OpaquePointer?) -> Bool {
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_FLAG, name, -1, -1, 0) == 1
    }

    private static func add(_ bytes: [UInt8], as identifier: String, to certificate: OpaquePointer) throws {
        let object = OBJ_txt2obj(identifier, 1)
        defer { ASN1_OBJECT_free(object) }
        let content = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(content) }
        guard ASN1_OCTET_STRING_set(content, bytes, Int32(bytes.count)) == 1,
            let made = X509_EXTENSION_create_by_OBJ(nil, object, 0, content)
        else { throw MintError(failed: identifier) }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw MintError(failed: identifier) }
    }
}

/// A key of a device, a root or an intermediate certificate.
public struct MintedKey: Sendable {
    let pem: String
    /// An uncompressed point; of 65 bytes on P-256.
    public let point: [UInt8]

    /// - Parameter group: OpenSSL's name of the curve.
    public init(group: String = "prime256v1") throws {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, group) == 1,
            EVP_PKEY_generate(context, &made) == 1, let key = made
        else { throw MintError(failed: "a key") }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 133)
        var size = 0
        guard
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &bytes, bytes.count, &size) == 1,
            let pem = PEMText.text(writing: { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) })
        else { throw MintError(failed: "a key") }
        self.pem = pem
        point = Array(bytes.prefix(size))
    }

    /// ECDSA with SHA-256 in DER.
    public func sign(_ message: [UInt8]) throws -> [UInt8] {
        try withKey { key in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: 160)
            var size = signature.count
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
                EVP_DigestSign(context, &signature, &size, message, message.count) == 1
            else { throw MintError(failed: "a signature") }
            return Array(signature.prefix(size))
        }
    }

    func withKey<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let key = PEMText.read(pem) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        guard let key else { throw MintError(failed: "a key") }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }
}

/// OpenSSL could not make an object for a test.
struct MintError: Error {
    let failed: String
}
