import COpenSSL
import Cryptography
import Encodings
public import StrictJSON

/// A private key that signs this service's own tokens, parsed once. Its bytes appear in no description.
public final class TokenSigningKey: @unchecked Sendable {
    // `@unchecked`: the handle is never changed after `init`, and OpenSSL allows any number of threads to use
    // one EVP_PKEY for signing.
    private let handle: PrivateKeyHandle
    public let verificationKey: TokenVerificationKey

    public var keyID: String { verificationKey.keyID }
    public var algorithm: SignatureAlgorithm { verificationKey.algorithm }

    /// Makes the PKCS #8 PEM of a new key: P-256, or RSA with 2048 bits, which takes up to a second. The text
    /// is a secret. Throws `.keyUnusable` when OpenSSL fails.
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
    /// Shows only the key ID. `dump` and string interpolation of types that contain a key use it.
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

/// The public half of a key that signs this service's tokens. Its algorithm is fixed with the key, so a token
/// cannot choose it.
public struct TokenVerificationKey: Sendable {
    enum Form: Sendable {
        case elliptic(ECPublicKey)
        case rsa(RSAPublicKey)
    }

    let form: Form
    /// The RFC 7638 thumbprint.
    public let keyID: String

    public var algorithm: SignatureAlgorithm {
        switch form {
        case .elliptic: .ES256
        case .rsa: .RS256
        }
    }

    init(_ form: Form) {
        self.form = form
        keyID = Self.thumbprint(of: form)
    }

    /// Reads an entry of a key set in the form of `jwk`. Throws `.keyUnusable`.
    public init(jwk: JSONValue) throws(JOSEError) {
        func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
            guard let bytes = jwk[name]?.string.flatMap({ Base64URL.decode($0) }) else {
                throw JOSEError(.keyUnusable, detail: "no \(name)")
            }
            return bytes
        }
        switch jwk["kty"]?.string {
        case "EC": self.init(.elliptic(try ECPublicKey(x: bytes("x"), y: bytes("y"))))
        case "RSA": self.init(.rsa(try RSAPublicKey(modulus: bytes("n"), exponent: bytes("e"))))
        default: throw JOSEError(.keyUnusable, detail: "kty is neither EC nor RSA")
        }
    }

    /// Returns true if the signature has the form of the key's own algorithm and is valid.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        switch form {
        case .elliptic(let key): key.isValidSignature(signature, for: message)
        case .rsa(let key): key.isValidSignature(signature, for: message)
        }
    }

    /// The key as an entry of a key set (RFC 7517 §4).
    public var jwk: JSONObject {
        switch form {
        case .elliptic(let key): key.jwk(keyID: keyID)
        case .rsa(let key):
            JSONObject([
                ("kty", .string("RSA")), ("kid", .string(keyID)), ("use", .string("sig")),
                ("alg", .string("RS256")), ("n", .string(Base64URL.encode(key.modulus))),
                ("e", .string(Base64URL.encode(key.exponent))),
            ])
        }
    }

    /// Returns the thumbprint (RFC 7638 §3): a hash of the required
    /// members in alphabetical order, without white space.
    private static func thumbprint(of form: Form) -> String {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        switch form {
        case .elliptic(let key):
            json.member("crv", "P-256")
            json.member("kty", "EC")
            json.member("x", Base64URL.encode(key.x))
            json.member("y", Base64URL.encode(key.y))
        case .rsa(let key):
            json.member("e", Base64URL.encode(key.exponent))
            json.member("kty", "RSA")
            json.member("n", Base64URL.encode(key.modulus))
        }
        json.endObject()
        return Base64URL.encode(SHA256Digest.hash(json.bytes))
    }
}

/// Signature algorithms of this service's own tokens (RFC 7518 §3.3, §3.4).
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case ES256
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case RS256
}

/// The two forms of an ECDSA signature on P-256.
enum ECDSASignature {
    private static let numberSize = 32

    /// Converts `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279 §2.2.3), the format of OpenSSL, to r and s of
    /// 32 bytes each (RFC 7518 §3.4). Returns `nil` for any other input.
    static func raw(ofDER der: [UInt8]) -> [UInt8]? {
        // The lengths of two numbers of at most 33 bytes need only one byte.
        guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = number(&rest), let s = number(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst().map({ Int($0) }), count > 0,
            count <= rest.count
        else { return nil }
        let significant = rest.prefix(count).drop { $0 == 0 }
        rest = rest.dropFirst(count)
        guard significant.count <= numberSize else { return nil }
        return [UInt8](repeating: 0, count: numberSize - significant.count) + significant
    }
}
