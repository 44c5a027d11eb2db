import Cryptography
import Encodings

/// The token that each form of a session sends back, so that a page of another site cannot make a browser act
/// for its operator (CSRF).
enum ConsoleFormToken {
    static func make(key: [UInt8]) -> String { Base64URL.encode(HMACSHA256(key: key).code(for: message)) }

    /// The duration does not depend on the position of a difference.
    static func isValid(_ token: String?, key: [UInt8]) -> Bool {
        guard let token, token.utf8.count == 43, let code = Base64URL.decode(token) else { return false }
        return HMACSHA256(key: key).isValid(code, for: message)
    }

    private static let message = Array("siwa console form".utf8)
}
