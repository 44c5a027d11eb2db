import Encodings
import StrictJSON

/// A successful token endpoint response (RFC 6749 §5.1).
struct TokenResponse: Sendable, Equatable {
    let accessToken: String
    /// Lifetime of the access token in seconds; `nil` if the response has none.
    let lifetime: Int64?
    let refreshToken: String?
    let idToken: String?
    /// Granted scope; `nil` if it equals the requested scope.
    let scope: String?

    /// Maximum size of a token in bytes.
    static let longestToken = 16 * 1024

    /// Reads the response. Throws the server's error, or `.tokenResponseUnusable`.
    init(status: Int, body: [UInt8]) throws(LoginError) {
        let json = try? JSONValue(parsing: body)
        guard status == 200 else { throw Self.failure(status: status, json) }
        guard let json, let accessToken = try Self.token("access_token", of: json) else {
            throw LoginError(
                .tokenResponseUnusable,
                "the token endpoint must answer with JSON and an access_token; try again")
        }
        guard let type = json["token_type"]?.string, type.lowercased() == "bearer" else {
            throw LoginError(
                .tokenResponseUnusable,
                "token_type must be Bearer, but the server sent \((json["token_type"]?.string ?? "none").forTerminal())"
            )
        }
        self.accessToken = accessToken
        refreshToken = try Self.token("refresh_token", of: json)
        idToken = try Self.token("id_token", of: json)
        // Limits the lifetime to a century, to prevent an overflow in later time arithmetic.
        lifetime = json["expires_in"]?.integer.map { min(max(0, $0), 3_155_760_000) }
        scope = json["scope"]?.string.map { $0.forTerminal(limit: 2048) }
    }

    /// Returns the error for a response with a status other than 200.
    static func failure(status: Int, _ json: JSONValue?) -> LoginError {
        guard (400..<500).contains(status), let word = json?["error"]?.string, !word.isEmpty else {
            return LoginError(
                .serverUnreachable, "the server answered with status \(status); try again later")
        }
        return OAuthErrorWords.error(word, description: json?["error_description"]?.string)
    }

    private static func token(_ name: String, of json: JSONValue) throws(LoginError) -> String? {
        guard let member = json[name], member != .null else { return nil }
        guard let token = member.string, (1...longestToken).contains(token.utf8.count),
            token.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw LoginError(
                .tokenResponseUnusable,
                "\(name) must be a string of at most \(longestToken) visible ASCII characters")
        }
        return token
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    var description: String { "token response" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
