/// What comes of a request to `/oauth/authorize`, before anything is known about the person.
public enum AuthorizationDecision: Sendable {
    /// A page for the person. There is no URI that could be trusted, or it must not be used from here.
    case page(AuthorizationPageError)
    /// Back to the client with an error, by 303.
    case redirect(AuthorizationResponse, OAuthError)
    case proceed(AuthorizationRequest)
}

/// Why a page is shown in place of a redirect.
public struct AuthorizationPageError: Error, Sendable {
    /// `invalid_request`, `invalid_client`, `redirect_uri_mismatch` or `disallowed_useragent`.
    public let error: OAuthError
    /// `nil` when the request names none that is known.
    public let client: OAuthClient?
    public let languages: RequestedLanguages

    /// The HTTP status: 403 for a browser that is refused, otherwise 400.
    public var status: Int { error.code == .disallowedUserAgent ? 403 : 400 }
}
