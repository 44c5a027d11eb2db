import COpenSSL
import Cryptography

/// A private key that signs this service's own tokens, parsed once. Its bytes appear in no description.
public final class TokenSigningKey: @unchecked Sendable {
    // `@unchecked`: the handle is never changed after `init`, and OpenSSL allows any number of threads to use
    // one EVP_PKEY for signing.
    private let handle: PrivateKeyHandle
    public let verificationKey: TokenVerificationKey

    public var keyID: String { verificationKey.keyID }
    public var algorithm: SignatureAlgorithm { verificationKey.algorithm }

    /// The PKCS #8 PEM of a new key: P-256, or RSA with 2048 bits, which takes up to a second. A secret.
    /// Throws `.keyUnusable` when OpenSSL fails.
    public static func makePEM(for algorithm: SignatureAlgorithm) throws(JOSEError) -> String {
        switch algorithm {
        case .ES256: try ECPrivateKey.generate().pem
        case .RS256: try RSAPrivateKey.generate().pem
        }
    }

    /// Reads a PKCS #8 PEM. Throws `.keyUnusable` unless it is a key for this algorithm.
    public init(pem: String, algorithm: SignatureAlgorithm) throws(JOSEError) {
        switch algorithm {
        case .ES256:
            verificationKey = TokenVerificationKey(.elliptic(try ECPrivateKey(pem: pem).publicKey))
        case .RS256:
            verificationKey = TokenVerificationKey(.rsa(try RSAPrivateKey(pem: pem).publicKey()))
        }
        let pointer = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in
            // `withPrivateKey` frees its reference to the key, so this adds another reference.
            guard EVP_PKEY_up_ref(key) == 1 else { throw JOSEError(.keyUnusable, detail: "not shared") }
            return key
        }
        handle = PrivateKeyHandle(owning: pointer)
    }

    /// Signs exactly these bytes, in the form of RFC 7518 §3.3 or §3.4. Throws `.signingFailed`.
    public func signature(for message: [UInt8]) throws(JOSEError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw JOSEError(.signingFailed, detail: "no context") }
        defer { EVP_MD_CTX_free(context) }
        var count = Int(EVP_PKEY_get_size(handle.pointer))
        let signature = [UInt8](unsafeUninitializedCapacity: count) { output, written in
            let isSigned =
                EVP_DigestSignInit(context, nil, SHA256Digest.algorithm, nil, handle.pointer) == 1
                && EVP_DigestSign(context, output.baseAddress, &count, message, message.count) == 1
            written = isSigned ? count : 0
        }
        guard !signature.isEmpty else {
            ERR_clear_error()
            throw JOSEError(.signingFailed, detail: algorithm.rawValue)
        }
        switch algorithm {
        case .RS256: return signature
        case .ES256:
            guard let raw = ECDSASignature.raw(ofDER: signature) else {
                throw JOSEError(.signingFailed, detail: "OpenSSL's signature is not DER")
            }
            return raw
        }
    }
}

extension TokenSigningKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "signing key \(keyID)" }
    /// `dump` and string interpolation of types that contain a key use this.
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
