import COpenSSL
import JOSE

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
            EVP_PKEY_get_octet_string_param(
                key, OSSL_PKEY_PARAM_PUB_KEY, &bytes, bytes.count, &size) == 1,
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
