import Encodings

/// A failed sign-in or sign-out of `siwa login`. `message` says what was expected, what was found and what to
/// do, and contains no token.
package struct LoginError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// An option is malformed.
        case optionMalformed
        /// The server cannot be reached, responds too late, or sends more than the limit.
        case serverUnreachable
        /// No metadata at either location.
        case metadataMissing
        case metadataUnusable
        /// The metadata names another issuer (RFC 8414 §3.3).
        case issuerMismatch
        /// The server does not offer the code flow with S256, which a native app needs.
        case serverUnsuitable
        case listenFailed
        /// No authorization response arrived in time.
        case responseMissing
        /// The authorization response has the right `state` but is not acceptable, for example because of
        /// `iss`.
        case responseRefused
        /// The server responded with an OAuth error.
        case serverRefused
        /// `invalid_grant`: the code or the refresh token is not accepted.
        case grantInvalid
        /// `invalid_token`: Google's response to the revocation of an ended token.
        case tokenInvalid
        case tokenResponseUnusable
        case idTokenRefused
        /// The file with the tokens cannot be read or written, or is not private.
        case fileUnusable
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    package var description: String { message }
}
