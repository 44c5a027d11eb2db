import Cryptography
import Encodings

/// Makes the value of the session's cookie, and reads it.
///
/// It is sealed, so that a browser cannot make a session or read whose it is, not even the person's own.
struct SessionSeal: Sendable {
    /// In bytes. Our values are far shorter, and longer ones are not worth decoding.
    static let longest = 2048

    private static let purpose = SealingPurpose("oauth_session")

    let keys: SealingKeyRing

    func seal(_ session: BrowserSession) -> String {
        Base64URL.encode(
            keys.seal(
                session.json, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8)))
    }

    /// Returns `nil` for anything that was not sealed here for this purpose. A session that has expired is
    /// returned too.
    func open(_ text: String?) -> BrowserSession? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text),
            let json = try? keys.open(
                sealed, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8))
        else { return nil }
        return BrowserSession(json: json)
    }
}
