import JOSE

/// How a client turned the caller's raw nonce into the `nonce` that it sent to Apple. Apple passes it through unchanged.
public enum NonceEncoding: String, Sendable, CaseIterable {
    /// Unchanged, as web clients do.
    case raw
    /// The SHA-256 in lowercase hexadecimal, as most native SDKs do.
    case sha256Hexadecimal = "sha256_hex"
    case sha256Base64URL = "sha256_base64url"
    case sha256Base64 = "sha256_base64"

    /// The claim that a client using this encoding produces for `nonce`.
    package func claim(for nonce: String, digest: [UInt8]) -> String {
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
