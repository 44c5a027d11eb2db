import Encodings

/// A failed sign-in or sign-out of `siwa login`. `message` contains the expected value, the value found and
/// the remedy, but no token.
package struct LoginError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// An option is malformed.
        case optionMalformed
        /// The server cannot be reached, responds too late, or sends more than the limit.
        case serverUnreachable
        /// No metadata was found at either location.
        case metadataMissing
        case metadataUnusable
        /// The metadata names another issuer (RFC 8414 §3.3).
        case issuerMismatch
        /// The server does not offer the code flow with S256, which a native app needs.
        case serverUnsuitable
        case listenFailed
        /// No authorization response arrived in time.
        case responseMissing
        /// The authorization response has the right `state` but is not acceptable, for example because of a
        /// wrong `iss`.
        case responseRefused
        /// The server responded with an OAuth error.
        case serverRefused
        /// `invalid_grant`: the server does not accept the code or the refresh token.
        case grantInvalid
        /// `invalid_token`: Google's response if the token to revoke is already invalid.
        case tokenInvalid
        case tokenResponseUnusable
        case idTokenRefused
        /// The token file cannot be read or written, or is not private.
        case fileUnusable
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    package var description: String { message }
}

/// Messages for authorization and token endpoint errors (RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core
/// §3.1.2.6).
enum OAuthErrorWords {
    /// - Parameters:
    ///   - word: The server's `error`. An unknown error is shown unchanged.
    ///   - description: The server's `error_description`.
    static func error(_ word: String, description: String?) -> LoginError {
        let code: LoginError.Code =
            switch word {
            case "invalid_grant": .grantInvalid
            case "invalid_token": .tokenInvalid
            default: .serverRefused
            }
        let words = meaning(of: word)
        let detail = description.map { ": \($0.forTerminal())" } ?? ""
        return LoginError(code, "\(words) (\(word.forTerminal(limit: 64))\(detail))")
    }

    private static func meaning(of word: String) -> String {
        switch word {
        case "access_denied": "the sign-in was cancelled, or the server does not allow it"
        case "invalid_request": "the server does not accept the request"
        case "unauthorized_client": "this client may not sign in this way; check its configuration"
        case "unsupported_response_type": "the server does not give codes to this client"
        case "invalid_scope": "the server or this client does not have the scope; change --scope"
        case "invalid_client":
            "the server does not know this client, or its secret is wrong; check --client-id and --client-secret-file"
        case "expired_token": "the code was not entered in time; run the command again"
        case "invalid_grant": "the server does not accept the code or the refresh token"
        case "invalid_token": "the server does not accept the token"
        case "unsupported_grant_type": "the server does not know this kind of grant"
        case "invalid_target": "the server does not give tokens for this resource"
        case "server_error": "the server has failed; try again later"
        case "temporarily_unavailable": "the server is not available; try again later"
        case "login_required", "interaction_required", "account_selection_required", "consent_required":
            "the server needs the user for this"
        case "disallowed_useragent": "the server refuses this browser; open the URL in a usual one"
        case "admin_policy_enforced", "org_internal":
            "the administrator of the Google account does not allow this client"
        default: "the server refused"
        }
    }
}
