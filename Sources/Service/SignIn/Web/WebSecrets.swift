import AppleAccounts
import Cryptography
import Encodings

/// The one-time code that the app's page gives to its backend: 256 random bits in base64url. Only its digest
/// is stored.
struct WebCode {
    let text: String
    let digest: TicketDigest

    init() {
        let text = Base64URL.encode(SecureRandom.bytes(count: 32))
        (self.text, digest) = (text, TicketDigest(.hash(text)))
    }

    /// Returns `nil` for a text that cannot be a code of this service, so that garbage never reaches the
    /// database.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        (self.text, digest) = (text, TicketDigest(.hash(text)))
    }
}

/// The secret in the browser's cookie, which proves that the browser began the sign-in: 256 random bits in
/// base64url.
public struct BrowserSecret: Sendable {
    public let text: String

    init() {
        text = Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// Returns `nil` for a text that cannot be a secret of this service.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        self.text = text
    }

    /// The digest, which travels through Apple in place of the secret.
    var digest: [UInt8] { SHA256Digest.hash(text).bytes }
}
