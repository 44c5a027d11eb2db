import Cryptography
import Encodings

/// The secret of one authorization request (RFC 7636 §4.1).
public struct CodeVerifier: Sendable, Confidential {
    let text: String

    /// Returns `nil` unless the text has 43 to 128 characters of `A-Z a-z 0-9 - . _ ~`.
    public init?(_ text: String) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        self.text = text
    }

    /// The text of the challenge with the method `S256`.
    public var s256: String { Base64URL.encode(SHA256Digest.hash(text)) }
}
