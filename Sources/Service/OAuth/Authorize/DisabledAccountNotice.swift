public import AuthorizationServer

/// Contents of the page that tells a user that the account is disabled.
public struct DisabledAccountNotice: Sendable {
    public let client: OAuthClient
    /// The URL of the client with the error `access_denied`, for the page's button.
    public let location: String
    public let languages: RequestedLanguages

    init(_ request: AuthorizationRequest) {
        client = request.client
        location = request.response.location(error: Self.error)
        languages = request.languages
    }

    static let error = OAuthError(.accessDenied, "The user's account is disabled.")
}
