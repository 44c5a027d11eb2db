/// An OAuth error response (RFC 6749 §5.2), as Apple's endpoints send.
///
/// The description gives the cause, and contains no token, code or user data. Apple's descriptions differ and
/// are undocumented: no program may depend on them.
struct OAuthError: Error, Equatable {
    enum Code: String, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// A refresh token was validated too often. Apple documents throttling, but not its response.
        case throttled
        /// The emulator cannot sign: all signing keys are retired.
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
    /// Seconds after which a retry makes sense.
    let retryAfter: Int64?

    init(_ code: Code, _ cause: String, retryAfter: Int64? = nil) {
        (self.code, self.cause, self.retryAfter) = (code, cause, retryAfter)
    }
}
