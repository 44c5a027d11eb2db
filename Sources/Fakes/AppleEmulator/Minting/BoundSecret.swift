import Cryptography
import Encodings

/// A code or an access token whose hash is in an identity token.
public enum BoundSecret: Sendable, Equatable {
    case none
    /// A random value in Apple's format.
    case made
    case given(String)

    func value(prefix: Character) -> String? {
        switch self {
        case .none: nil
        case .given(let secret): secret
        case .made:
            "\(prefix)\(Hexadecimal.encode(SecureRandom.bytes(count: 16))).0.mrtz."
                + Base64URL.encode(SecureRandom.bytes(count: 16))
        }
    }

    /// Returns `c_hash` or `at_hash`: the left half of SHA-256, base64url (OpenID Connect Core §3.1.3.6,
    /// §3.3.2.11).
    static func hash(of secret: String) -> String {
        Base64URL.encode(SHA256Digest.hash(secret).prefix(16))
    }
}
