import Cryptography
import Encodings

/// Makes the value of the session's cookie, and reads it.
///
/// The value is sealed, so that a browser can neither make a session nor read its account, not even the
/// user's own browser.
struct SessionSeal: Sendable {
    /// Bound in bytes. Our values are far shorter, and longer values are not worth decoding.
    static let longest = 2048

    private static let purpose = SealingPurpose("oauth_session")

    let keys: SealingKeyRing

    func seal(_ session: BrowserSession) -> String {
        Base64URL.encode(
            keys.seal(
                session.json, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8)))
    }

    /// Returns `nil` for a value that was not sealed here for this purpose. A session that has expired is
    /// returned too.
    func open(_ text: String?) -> BrowserSession? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text),
            let json = try? keys.open(
                sealed, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8))
        else { return nil }
        return BrowserSession(json: json)
    }
}
