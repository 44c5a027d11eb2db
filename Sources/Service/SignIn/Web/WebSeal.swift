import AppleAccounts
import Cryptography
import Encodings

/// Seals values that travel through the browser, so that only this service can read or make them.
///
/// Any client can have any number of states sealed without an API key. Each value is sealed with its own key
/// (`SealingKey`), so the number of values needs no bound.
struct WebSeal: Sendable {
    /// The purpose of a sealed text. A text for one purpose does not open for another purpose.
    enum Purpose: String {
        case state = "web_state"
        case ticket = "web_ticket"
        /// The stored result of a form.
        case end = "web_end"

        var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }
    }

    /// Bound in bytes. Our texts are far shorter, and longer texts are not worth decoding.
    static let longest = 8192

    private let keys: SealingKeyRing

    init(keys: SealingKeyRing) {
        self.keys = keys
    }

    func seal(_ plaintext: [UInt8], for purpose: Purpose) -> String {
        Base64URL.encode(
            keys.seal(
                plaintext, for: purpose.sealingPurpose, associatedData: Array(purpose.rawValue.utf8)))
    }

    /// Returns `nil` for a text that was not sealed here for this purpose.
    func open(_ text: String, for purpose: Purpose) -> [UInt8]? {
        guard text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text) else { return nil }
        return try? keys.open(
            sealed, for: purpose.sealingPurpose, associatedData: Array(purpose.rawValue.utf8))
    }
}

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
