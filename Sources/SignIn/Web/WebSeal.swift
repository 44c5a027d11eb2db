import Cryptography
import Encodings

/// Seals what travels with the browser, so that it can be neither read nor made by anybody else.
///
/// Anybody can have any number of states sealed, without a key. Each value has a key of its own (`SealingKey`), so that
/// there is no number of them to watch.
struct WebSeal: Sendable {
    /// What a sealed text is good for. One is never taken for another.
    enum Purpose: String {
        case state = "web_state"
        case ticket = "web_ticket"

        var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }
    }

    /// Bytes of a sealed text. Ours are far shorter; longer ones are not worth decoding.
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

    /// Returns `nil` for anything that was not sealed here for this purpose.
    func open(_ text: String, for purpose: Purpose) -> [UInt8]? {
        guard text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text) else { return nil }
        return try? keys.open(
            sealed, for: purpose.sealingPurpose, associatedData: Array(purpose.rawValue.utf8))
    }
}
