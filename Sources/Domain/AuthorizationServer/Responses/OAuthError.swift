public import AppAttestation
public import Encodings
public import StrictJSON

/// An OAuth 2.0 error, as a client receives it.
public struct OAuthError: CodedError {
    /// The raw values are the standard error codes, plus Google's codes for App Flip and error pages.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // RFC 6749 §4.1.2.1 and §5.2.
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case unsupportedResponseType = "unsupported_response_type"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        // RFC 8707 §2.
        case invalidTarget = "invalid_target"
        // RFC 6750 §3.1.
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        // OpenID Connect Core §3.1.2.6.
        case interactionRequired = "interaction_required"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        // RFC 8628 §3.5.
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        // Google's codes, for App Flip, streamlined linking, and error pages of the authorization endpoint.
        case cancelled
        case unrecoverable
        case linkingError = "linking_error"
        case redirectURIMismatch = "redirect_uri_mismatch"
        case disallowedUserAgent = "disallowed_useragent"
    }

    public let code: Code
    /// The `error_description`: an explanation in English for the client's developer.
    ///
    /// It is limited to the characters of RFC 6749 §4.1.2.1 (printable ASCII without `"` and `\`). It never
    /// quotes the request, so that a request cannot inject text or markup into a response.
    public let explanation: String
    /// The cause of an App Check refusal, as a machine-readable word.
    public let appCheckCause: AppCheckCause?
    /// The reason for a token endpoint refusal. `nil` for errors of other endpoints.
    public let reason: TokenRefusalReason?
    /// Number of seconds until the same request can succeed, for the `Retry-After` header.
    public let retryAfter: Int64?
    /// The user's e-mail address at Google. Only for `linking_error`.
    var loginHint: String?

    /// - Parameter reason: The reason. `nil` for a code that already determines the reason.
    public init(
        _ code: Code, _ explanation: String, appCheckCause: AppCheckCause? = nil,
        reason: TokenRefusalReason? = nil, retryAfter: Int64? = nil
    ) {
        (self.code, self.explanation, self.appCheckCause) = (code, explanation, appCheckCause)
        self.retryAfter = retryAfter
        self.reason = reason ?? code.reason
    }

    public var description: String { "\(code.rawValue): \(explanation)" }
}

/// The JSON body of an error response (RFC 6749 §5.2).
extension OAuthError: JSONBody {
    public static var schemaName: String { "OAuthErrorResponse" }
    public static var schemaText: String { "An error response (RFC 6749 §5.2, RFC 6750 §3)." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("error", "The code of the error, like `invalid_grant`.") { $0.code.rawValue }
        member("error_description", "A sentence for developers. It repeats nothing of the request.") {
            $0.explanation.isEmpty ? nil : $0.explanation
        }
        member(
            "cause",
            "With `invalid_client` of App Check: the cause, like `proof_missing` or `counter_not_increased`."
        ) { $0.appCheckCause?.code }
        member("re_attest", "With `cause`: true if the app can go on with a new key that it attests.") {
            $0.appCheckCause?.canReAttest
        }
        member("login_hint", "Google's e-mail address of the user, with `linking_error`.") { $0.loginHint }
    }

    public var json: [UInt8] { json(reservingCapacity: 256) }
}

extension OAuthError {
    /// Creates the error for an App Check refusal. A public client that does not prove its app counts as
    /// unauthenticated (RFC 6749 §5.2).
    public init(_ refusal: AppCheckRefusal) {
        let reason: TokenRefusalReason =
            switch refusal.code {
            case .attestationRequired: .attestationRequired
            case .attestationInvalid: .attestationInvalid
            }
        self.init(.invalidClient, refusal.explanation, appCheckCause: refusal.cause, reason: reason)
    }

    /// Returns the same error for every fault in a code or refresh token. The client does not learn the
    /// reason, because it would help an attacker who is guessing codes.
    public static func invalidGrant(_ reason: TokenRefusalReason) -> OAuthError {
        OAuthError(
            .invalidGrant, "The code or token is wrong, expired, used or revoked; start a new authorization.",
            reason: reason)
    }

    /// This error with its reason added to the explanation. Only for development.
    public var explained: OAuthError {
        guard let reason else { return self }
        let text = code == .invalidGrant ? reason.explanation : explanation
        return OAuthError(
            code, "\(reason.rawValue): \(text)", appCheckCause: appCheckCause, reason: reason,
            retryAfter: retryAfter)
    }
}

extension OAuthError.Code {
    /// The reason that this code always has at the token endpoint. `nil` for `invalid_grant`, which can have
    /// many reasons, and for codes of other endpoints.
    fileprivate var reason: TokenRefusalReason? {
        switch self {
        case .invalidRequest: .requestMalformed
        case .invalidClient: .clientNotAuthenticated
        case .unauthorizedClient: .grantTypeNotAllowed
        case .unsupportedGrantType: .grantTypeUnknown
        case .invalidScope: .scopeNotAllowed
        case .invalidTarget: .resourceDiffers
        case .authorizationPending: .authorizationPending
        case .slowDown: .slowDown
        case .expiredToken: .deviceCodeExpired
        case .invalidGrant, .accessDenied, .unsupportedResponseType, .serverError, .temporarilyUnavailable,
            .invalidToken, .insufficientScope, .interactionRequired, .loginRequired, .consentRequired,
            .requestNotSupported, .requestURINotSupported, .cancelled, .unrecoverable, .linkingError,
            .redirectURIMismatch, .disallowedUserAgent:
            nil
        }
    }
}
