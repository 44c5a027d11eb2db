import AppleAccounts
import Cryptography
import Encodings

/// Seals values that pass through the browser, so that only this service can read or make them.
///
/// Any client can make this service seal any number of states without an API key. The number needs no bound,
/// because each value is sealed with its own derived key (`SealingKey`).
struct WebSeal: Sendable {
    /// The purpose of a sealed string. A string sealed for one purpose cannot be opened for another purpose.
    enum Purpose: String {
        case state = "web_state"
        case ticket = "web_ticket"
        /// The stored result of a posted form.
        case end = "web_end"

        var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }
    }

    /// Maximum length of a sealed string in bytes. Genuine strings are far shorter, so longer strings are not
    /// decoded.
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

    /// Opens a string. Returns `nil` if this service did not seal it for this purpose.
    func open(_ text: String, for purpose: Purpose) -> [UInt8]? {
        guard text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text) else { return nil }
        return try? keys.open(
            sealed, for: purpose.sealingPurpose, associatedData: Array(purpose.rawValue.utf8))
    }
}

/// The one-time code that the app's page passes to its backend: 256 random bits in base64url. The service
/// stores only the code's digest.
struct WebCode {
    let text: String
    let digest: TicketDigest

    init() {
        let text = Base64URL.encode(SecureRandom.bytes(count: 32))
        (self.text, digest) = (text, TicketDigest(.hash(text)))
    }

    /// Returns `nil` for a string that cannot be one of this service's codes, so that malformed codes never
    /// reach the database.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        (self.text, digest) = (text, TicketDigest(.hash(text)))
    }
}

/// The secret in the browser's cookie, which proves that the browser started the sign-in: 256 random bits in
/// base64url.
public struct BrowserSecret: Sendable {
    public let text: String

    init() {
        text = Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// Returns `nil` for a string that cannot be one of this service's secrets.
    init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        self.text = text
    }

    /// The secret's digest, which Apple's `state` contains in place of the secret.
    var digest: [UInt8] { SHA256Digest.hash(text).bytes }
}
