import Cryptography
import Encodings
public import StrictJSON

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

    /// Returns false unless the signature has the form of the key's own algorithm and is valid.
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

    /// RFC 7638 §3: the required members in alphabetical order, without white space.
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
