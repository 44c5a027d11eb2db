import COpenSSL
import Cryptography
import Encodings
public import StrictJSON

/// A private key that signs this service's own tokens, parsed once. Descriptions omit its bytes.
public final class TokenSigningKey: @unchecked Sendable {
    // `@unchecked`: the handle never changes after `init`, and OpenSSL allows any number of threads to sign
    // with one EVP_PKEY.
    private let handle: PrivateKeyHandle
    public let verificationKey: TokenVerificationKey

    public var keyID: String { verificationKey.keyID }
    public var algorithm: SignatureAlgorithm { verificationKey.algorithm }

    /// Generates a key and returns its PKCS #8 PEM, which is secret. It is a P-256 key, or a 2048-bit RSA
    /// key, which takes up to a second to generate. Throws `.keyUnusable` if OpenSSL fails.
    public static func makePEM(for algorithm: SignatureAlgorithm) throws(JOSEError) -> String {
        switch algorithm {
        case .ES256: try ECPrivateKey.generate().pem
        case .RS256: try RSAPrivateKey.generate().pem
        }
    }

    /// Parses a PKCS #8 PEM key. Throws `.keyUnusable` unless it is a key for this algorithm.
    public init(pem: String, algorithm: SignatureAlgorithm) throws(JOSEError) {
        switch algorithm {
        case .ES256:
            verificationKey = TokenVerificationKey(.elliptic(try ECPrivateKey(pem: pem).publicKey))
        case .RS256:
            verificationKey = TokenVerificationKey(.rsa(try RSAPrivateKey(pem: pem).publicKey()))
        }
        let pointer = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in
            // `withPrivateKey` will free its own reference to the key, so the handle needs another reference.
            guard EVP_PKEY_up_ref(key) == 1 else { throw JOSEError(.keyUnusable, detail: "not shared") }
            return key
        }
        handle = PrivateKeyHandle(owning: pointer)
    }

    /// Signs exactly these bytes, in the form that RFC 7518 §3.3 or §3.4 defines. Throws `.signingFailed` if
    /// OpenSSL cannot sign.
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
    /// Contains only the key ID: `dump` and string interpolation of types that contain a key use this mirror.
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

/// Public part of a key that signs this service's tokens. The key determines the algorithm, so a token cannot
/// choose its own.
public struct TokenVerificationKey: Sendable {
    enum Form: Sendable {
        case elliptic(ECPublicKey)
        case rsa(RSAPublicKey)
    }

    let form: Form
    /// Key thumbprint (RFC 7638).
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

    /// Parses a key-set entry in the form that `jwk` returns. Throws `.keyUnusable` for any other value.
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

    /// Returns true if the signature is valid and has the form that the key's own algorithm requires.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        switch form {
        case .elliptic(let key): key.isValidSignature(signature, for: message)
        case .rsa(let key): key.isValidSignature(signature, for: message)
        }
    }

    /// The key as a key-set entry (RFC 7517 §4).
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

    /// Returns the thumbprint (RFC 7638 §3): a hash of the required members in alphabetical order, without
    /// white space.
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

/// The algorithms that sign this service's own tokens (RFC 7518 §3.3, §3.4).
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case ES256
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case RS256
}

/// The two forms of a P-256 ECDSA signature.
enum ECDSASignature {
    private static let numberSize = 32

    /// Converts OpenSSL's format `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279 §2.2.3) to the raw form, with
    /// r and s of 32 bytes each (RFC 7518 §3.4). Returns `nil` for any other input.
    static func raw(ofDER der: [UInt8]) -> [UInt8]? {
        // The two numbers have at most 33 bytes each, so the sequence needs only one length byte.
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
