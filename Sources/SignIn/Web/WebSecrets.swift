import AppleAccounts
import Cryptography
import Encodings

/// The one-time code that the app's page hands to its backend. 256 random bits in base64url; stored is its digest.
struct WebCode {
    let text: String
    let digest: TicketDigest

    init() {
        let text = Base64URL.encode(SecureRandom.bytes(count: 32))
        guard let digest = TicketDigest(SHA256Digest.hash(text).bytes) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        (self.text, self.digest) = (text, digest)
    }

    /// Returns `nil` for what cannot be one of ours, so that garbage never reaches the database.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32,
            let digest = TicketDigest(SHA256Digest.hash(text).bytes)
        else { return nil }
        (self.text, self.digest) = (text, digest)
    }
}

/// What a browser keeps in its cookie to show that it is the one that began. 256 random bits in base64url.
public struct BrowserSecret: Sendable {
    public let text: String

    init() {
        text = Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// Returns `nil` for what cannot be one of ours.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        self.text = text
    }

    /// What travels through Apple instead of the secret.
    var digest: [UInt8] { SHA256Digest.hash(text) }
}
