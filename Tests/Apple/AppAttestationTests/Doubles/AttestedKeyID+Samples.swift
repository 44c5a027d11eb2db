import AppAttestation
import Cryptography
import Encodings

extension AttestedKeyID {
    /// The text that a client has for a key, computed without the module.
    static func base64(ofKey point: [UInt8]) -> String {
        Base64.encode(SHA256Digest.hash(point).bytes)
    }
}
