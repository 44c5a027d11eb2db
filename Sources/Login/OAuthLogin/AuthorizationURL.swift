import Cryptography
import Encodings

/// The authorization request that the browser sends (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct AuthorizationURL {
    let endpoint: String
    let clientID: String
    let redirectURI: String
    let scope: RequestedScope
    let secrets: LoginSecrets

    var text: String {
        var fields = [
            (name: "response_type", value: "code"), ("client_id", clientID), ("redirect_uri", redirectURI),
        ]
        if let scope = scope.text { fields.append(("scope", scope)) }
        fields.append(("state", secrets.state))
        if scope.mayHaveOpenID { fields.append(("nonce", secrets.nonce)) }
        fields += [("code_challenge", secrets.challenge), ("code_challenge_method", "S256")]
        // The client must keep the query in an endpoint's URL (RFC 6749 §3.1).
        return endpoint + (endpoint.contains("?") ? "&" : "?") + FormEncoding.encode(fields)
    }
}

/// The scope to request at sign-in (RFC 6749 §3.3). If no scope is requested, the server selects the scope.
package struct RequestedScope: Sendable, Equatable {
    /// Space-separated names; `nil` if no scope is requested.
    let text: String?

    /// Reads the values of `--scope`, each with one or more scope names. Throws `.optionMalformed` for a
    /// character that no scope name may contain.
    package init(_ options: [String]) throws(LoginError) {
        let words = options.flatMap { $0.split(separator: " ") }
        for word in words {
            let isScope = word.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
            guard isScope else {
                throw LoginError(
                    .optionMalformed,
                    "--scope must have ASCII characters other than quotation mark and backslash"
                )
            }
        }
        let text = words.joined(separator: " ")
        guard text.utf8.count <= 2048 else {
            throw LoginError(.optionMalformed, "--scope must have at most 2048 characters")
        }
        self.text = text.isEmpty ? nil : text
    }

    /// True if the response must contain an ID token.
    var hasOpenID: Bool { text?.split(separator: " ").contains("openid") ?? false }
    /// True if the response may contain an ID token, including when the server selects the scope.
    var mayHaveOpenID: Bool { text == nil || hasOpenID }
}

/// One sign-in's random values. They exist only in memory.
struct LoginSecrets: Sendable {
    /// Binds the authorization response to this sign-in (RFC 6749 §10.12).
    let state: String
    /// Binds the ID token to this sign-in (OpenID Connect Core §3.1.2.1).
    let nonce: String
    /// `code_verifier` (RFC 7636 §4.1): 43 characters from 32 random bytes.
    let verifier: String

    init() {
        state = Self.random()
        nonce = Self.random()
        verifier = Self.random()
    }

    init(state: String, nonce: String, verifier: String) {
        (self.state, self.nonce, self.verifier) = (state, nonce, verifier)
    }

    /// `code_challenge` with S256 (RFC 7636 §4.2).
    var challenge: String { Base64URL.encode(SHA256Digest.hash(verifier)) }

    private static func random() -> String { Base64URL.encode(SecureRandom.bytes(count: 32)) }
}
