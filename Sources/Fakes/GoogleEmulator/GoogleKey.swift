import Cryptography
import EmulatorServer
import Encodings
public import JOSE
import StrictJSON

/// One of the fake Google's private keys, with the ID of its published public key.
public struct GoogleKey: Sendable {
    public let keyID: String
    public let privateKey: RSAPrivateKey

    /// Generates a 2048-bit key, which takes up to half a second. Throws `JOSEError` if OpenSSL fails.
    public static func generate() throws(JOSEError) -> GoogleKey {
        GoogleKey(
            keyID: Hexadecimal.encode(SecureRandom.bytes(count: 20)),
            privateKey: try RSAPrivateKey.generate(primes: 3))
    }

    /// Signs claims with RS256, the algorithm that Google uses for all tokens.
    ///
    /// `type` is the value of `typ` in the header. Throws `.signingFailed` if the signing library fails.
    func sign(_ claims: JSONObject, type: String) throws(EmulatorError) -> String {
        let header = JSONObject([
            ("alg", .string("RS256")), ("kid", .string(keyID)), ("typ", .string(type)),
        ])
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        do throws(JOSEError) {
            segments.signature = try privateKey.signature(for: segments.signingInput)
        } catch {
            throw EmulatorError(.signingFailed, detail: error.description)
        }
        return segments.compact
    }

    /// Returns the key set (RFC 7517 §5), which `/oauth2/v3/certs` sends.
    static func document(_ keys: [GoogleKey]) -> JSONObject {
        let entries = keys.map { JSONValue.object($0.privateKey.publicJWK(keyID: $0.keyID)) }
        return JSONObject([("keys", .array(entries))])
    }
}
