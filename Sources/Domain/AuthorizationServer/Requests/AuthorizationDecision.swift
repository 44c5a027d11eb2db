/// The decision about a request to `/oauth/authorize`, before anything is known about the user.
public enum AuthorizationDecision: Sendable {
    /// A page for the user. The request has no trusted URI, or a redirect must not be sent from this browser.
    case page(AuthorizationPageError)
    /// A redirect back to the client with an error, by 303.
    case redirect(AuthorizationResponse, OAuthError)
    case proceed(AuthorizationRequest)
}

/// An error that is shown as a page instead of a redirect.
public struct AuthorizationPageError: Error, Sendable {
    /// `invalid_request`, `invalid_client`, `redirect_uri_mismatch` or `disallowed_useragent`.
    public let error: OAuthError
    /// `nil` when the request names no known client.
    public let client: OAuthClient?
    public let languages: RequestedLanguages

    /// The reason, as the page names it.
    public enum Reason: Sendable {
        case clientUnknown, redirectURIMismatch, embeddedBrowser, requestMalformed
    }

    public var reason: Reason {
        switch error.code {
        case .invalidClient: .clientUnknown
        case .redirectURIMismatch: .redirectURIMismatch
        case .disallowedUserAgent: .embeddedBrowser
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .accessDenied, .unsupportedResponseType,
            .unsupportedGrantType, .invalidScope, .serverError, .temporarilyUnavailable, .invalidTarget,
            .invalidToken, .insufficientScope, .interactionRequired, .loginRequired, .consentRequired,
            .requestNotSupported, .requestURINotSupported, .authorizationPending, .slowDown, .expiredToken,
            .cancelled, .unrecoverable, .linkingError:
            .requestMalformed
        }
    }

    /// The HTTP status: 403 for a browser that is refused, otherwise 400.
    public var status: Int { error.code == .disallowedUserAgent ? 403 : 400 }
}
