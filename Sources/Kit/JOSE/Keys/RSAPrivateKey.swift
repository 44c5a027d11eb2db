import COpenSSL
import Encodings
public import StrictJSON

/// An RSA private key, used by the fakes, the tests and operators' service accounts. Token verification does
/// not need it.
public struct RSAPrivateKey: Sendable {
    /// The key as PKCS #8 PEM. It is secret, so never print it.
    public let pem: String
    /// The public key as SubjectPublicKeyInfo PEM.
    public let publicKeyPEM: String
    private let modulus: [UInt8]
    private let exponent: [UInt8]

    /// Generates a key, which takes about a second for 2048 bits on a slow machine. Throws `.keyUnusable` if
    /// OpenSSL fails.
    ///
    /// - Parameter primes: Number of primes (RFC 8017 §3.1). Three are found in a third of the time. The public
    ///   key shows no difference, but few libraries read such a private key, so no other program may get it.
    public static func generate(bits: Int = 2048, primes: Int = 2) throws(JOSEError) -> RSAPrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_primes(context, Int32(primes)) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else {
            throw JOSEError(.keyUnusable, detail: "generation failed")
        }
        defer { EVP_PKEY_free(key) }
        return try RSAPrivateKey(key)
    }

    /// Parses a PEM private key. Throws `.keyUnusable` unless it is an RSA key.
    public init(pem: String) throws(JOSEError) {
        self = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in try RSAPrivateKey(key) }
    }

    /// Returns the public key as a key-set entry with exactly the members that Apple's entries have.
    public func publicJWK(keyID: String) -> JSONObject {
        JSONObject([
            ("kty", .string("RSA")), ("kid", .string(keyID)), ("use", .string("sig")),
            ("alg", .string("RS256")),
            ("n", .string(Base64URL.encode(modulus))), ("e", .string(Base64URL.encode(exponent))),
        ])
    }

    /// Returns the public key. Throws an error if verifiers would not accept it.
    public func publicKey() throws(JOSEError) -> RSAPublicKey {
        try RSAPublicKey(modulus: modulus, exponent: exponent)
    }

    private init(_ key: OpaquePointer) throws(JOSEError) {
        guard let modulus = Self.number(OSSL_PKEY_PARAM_RSA_N, of: key),
            let exponent = Self.number(OSSL_PKEY_PARAM_RSA_E, of: key),
            let pem = PEMText.privateKey(key),
            let publicKeyPEM = PEMText.publicKey(key)
        else {
            throw JOSEError(.keyUnusable, detail: "not an RSA key")
        }
        (self.modulus, self.exponent) = (modulus, exponent)
        (self.pem, self.publicKeyPEM) = (pem, publicKeyPEM)
    }

    private static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var value: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &value) == 1, let value else { return nil }
        defer { BN_free(value) }
        let size = Int(BN_num_bits(value) + 7) / 8
        return [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = Int(BN_bn2bin(value, output.baseAddress))
        }
    }
}

extension RSAPrivateKey {
    /// Signs exactly these bytes with RSASSA-PKCS1-v1_5 (RFC 7518 §3.3).
    ///
    /// The fakes, tests and service accounts use it because `JWTSigner`, unlike Apple, always adds `typ` and
    /// writes members in alphabetical order. Throws `.signingFailed`, or `.keyUnusable` if OpenSSL cannot
    /// read the key back.
    public func signature(
        for message: [UInt8], with hash: HashFunction = .sha256
    ) throws(JOSEError) -> [UInt8] {
        try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var count = Int(EVP_PKEY_get_size(key))
            let signature = [UInt8](unsafeUninitializedCapacity: count) { output, written in
                let isSigned =
                    EVP_DigestSignInit(context, nil, hash.digest, nil, key) == 1
                    && EVP_DigestSign(context, output.baseAddress, &count, message, message.count) == 1
                written = isSigned ? count : 0
            }
            guard !signature.isEmpty else {
                ERR_clear_error()
                throw JOSEError(.signingFailed, detail: "RSA with \(hash.name)")
            }
            return signature
        }
    }
}

/// Hash functions used by signature algorithms. The last three digits of an algorithm's name identify the
/// hash function, such as SHA-256 for RS256 (RFC 7518 §3.1).
public enum HashFunction: Sendable, CaseIterable {
    case sha256, sha384, sha512

    /// OpenSSL's name for the function.
    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    var digest: OpaquePointer? {
        switch self {
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }

    /// Size in bytes of a digest, and of a message authentication code.
    var size: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

/// HMAC with the hash functions of HS256, HS384 and HS512 (RFC 7518 §3.2). The fake Apple and the tests use
/// it to forge tokens.
public enum MessageAuthenticationCode {
    /// Returns the authentication code of a message. Throws `.signingFailed` if OpenSSL fails.
    public static func make(
        for message: [UInt8], secret: [UInt8], with hash: HashFunction
    ) throws(JOSEError) -> [UInt8] {
        var count = 0
        let code = [UInt8](unsafeUninitializedCapacity: hash.size) { output, written in
            let isMade =
                EVP_Q_mac(
                    nil, "HMAC", nil, hash.name, nil, secret, secret.count, message, message.count,
                    output.baseAddress, output.count, &count) != nil
            written = isMade ? count : 0
        }
        guard !code.isEmpty else {
            ERR_clear_error()
            throw JOSEError(.signingFailed, detail: "HMAC with \(hash.name)")
        }
        return code
    }
}
