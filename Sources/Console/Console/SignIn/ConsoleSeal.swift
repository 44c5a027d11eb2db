import Cryptography
import Encodings

/// Makes the values of the console's cookies, and reads them.
struct ConsoleSeal: Sendable {
    /// Bound in bytes. Our values are shorter, and longer ones are not worth decoding.
    static let longest = 4096

    enum Content: String {
        case session = "console_session"
        /// A sentence that the next page shows.
        case notice = "console_notice"
    }

    let keys: SealingKeyRing

    /// - Parameter session: The ID of the only session that can open the value; empty for a value of any.
    func seal(_ content: Content, _ bytes: [UInt8], of session: [UInt8] = []) -> String {
        Base64URL.encode(
            keys.seal(
                bytes, for: SealingPurpose(content.rawValue),
                associatedData: Array(content.rawValue.utf8) + session))
    }

    /// Returns `nil` for a value that was not sealed here for this purpose and session.
    func open(_ content: Content, _ text: String?, of session: [UInt8] = []) -> [UInt8]? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text) else {
            return nil
        }
        return try? keys.open(
            sealed, for: SealingPurpose(content.rawValue),
            associatedData: Array(content.rawValue.utf8) + session)
    }
}
