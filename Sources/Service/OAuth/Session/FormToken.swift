import AppleAccounts
import Cryptography
import Encodings

/// Proves that a posted form was shown by this service, to this session and for this request.
///
/// The token is a MAC under a key of the session over everything that the user agreed to: account, app, and
/// the whole query of the request with its client, redirect URI, scope, state and challenge. A page of
/// another site cannot make a token (CSRF), and the token of another request or session does not fit.
enum FormToken {
    static func make(for query: String, in session: BrowserSession) -> String {
        Base64URL.encode(HMACSHA256(key: session.formKey).code(for: message(query, session)))
    }

    /// The duration does not depend on the position of a difference.
    static func isValid(_ token: String, for query: String, in session: BrowserSession) -> Bool {
        guard token.utf8.count == 43, let code = Base64URL.decode(token) else { return false }
        return HMACSHA256(key: session.formKey).isValid(code, for: message(query, session))
    }

    /// The query comes last, so that no two pairs have the same message: the other parts have no line break.
    private static func message(_ query: String, _ session: BrowserSession) -> [UInt8] {
        Array("siwa consent\n\(session.accountID.rawValue)\n\(session.clientID.rawValue)\n\(query)".utf8)
    }
}
