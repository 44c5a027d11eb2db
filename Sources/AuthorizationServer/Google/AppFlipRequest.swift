public import AppleAccounts

/// An App Flip call that passed every check except the check of the identity, which is next.
public struct AppFlipRequest: Sendable {
    public let client: OAuthClient
    public let response: AuthorizationResponse
    /// Scopes that the user has granted. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let identity: Identity
    public let language: PageLanguage

    /// The user's identity, as the app's backend states it.
    public enum Identity: Sendable, Confidential {
        /// An identity token: a sign-in like every other.
        case identityToken(String, nonce: String?)
        /// - Parameter authenticatedAt: `nil` when the backend does not state it. An unknown time is too old
        ///   for a client with `max_authentication_age`.
        case account(String, authenticatedAt: Moment?)
    }

    /// The bound on the age of the authentication.
    public var authenticationAge: AuthenticationAge {
        AuthenticationAge(longest: client.maxAuthenticationAge)
    }

    public func response(code: String) -> AppFlipResponse {
        AppFlipResponse(
            redirectTo: response.location(code: code), outcome: .code, language: language)
    }

    /// Returns the response when there is no code.
    public func response(_ obstacle: AppFlipObstacle) -> AppFlipResponse {
        AppFlipResponse(refusing: obstacle.outcome, by: response, language: language)
    }
}
