/// A refusal in OAuth's words (RFC 6749 §5.2), which is how Apple's endpoints say no.
///
/// The description names what is wrong, never a token, a code or a person. Apple's descriptions differ and are
/// undocumented: no program may branch on them.
struct OAuthRefusal: Error, Equatable {
    enum Code: String, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// The refresh grant was asked for more often than Apple likes. Apple documents that it throttles, not how.
        case throttled
        /// The emulator itself cannot: every signing key is retired.
        case serverError = "server_error"

        var status: Int {
            switch self {
            case .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType,
                .invalidScope:
                400
            case .throttled: 429
            case .serverError: 500
            }
        }
    }

    let code: Code
    let cause: String
    /// Seconds after which asking again makes sense.
    let retryAfter: Int64?

    init(_ code: Code, _ cause: String, retryAfter: Int64? = nil) {
        (self.code, self.cause, self.retryAfter) = (code, cause, retryAfter)
    }
}
