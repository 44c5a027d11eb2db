import Cryptography
import Encodings

/// Makes the secrets that callers present.
public enum APIKeySecret {
    /// 256 random bits after a prefix by which a leaked key is recognized.
    public static func make() -> String {
        "siwa_" + Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// What is configured: a secret of 256 random bits needs no slow hash, nobody can guess it.
    public static func hash(_ secret: String) -> [UInt8] {
        SHA256Digest.hash(secret).bytes
    }
}
