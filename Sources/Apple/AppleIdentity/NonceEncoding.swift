package import Cryptography
import Encodings

/// Encoding of the raw nonce in the app's request to Apple. Apple copies the value into the token unchanged.
public enum NonceEncoding: String, Sendable, CaseIterable {
    /// Unchanged, as web clients do.
    case raw
    /// The SHA-256 in lowercase hexadecimal, as most native SDKs do.
    case sha256Hexadecimal = "sha256_hex"
    case sha256Base64URL = "sha256_base64url"
    case sha256Base64 = "sha256_base64"

    /// Returns the `nonce` claim that results from this encoding.
    package func claim(for nonce: String, digest: SHA256Digest) -> String {
        switch self {
        case .raw: nonce
        case .sha256Hexadecimal: Hexadecimal.encode(digest)
        case .sha256Base64URL: Base64URL.encode(digest)
        case .sha256Base64:
            String(
                Base64URL.encode(digest).map { character in
                    switch character {
                    case "-": "+"
                    case "_": "/"
                    default: character
                    }
                }) + "="
        }
    }
}
