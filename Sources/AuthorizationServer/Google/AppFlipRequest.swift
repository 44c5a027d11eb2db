public import AppleAccounts

/// An App Flip call with which everything is right, but for the identity, which is checked next.
public struct AppFlipRequest: Sendable {
    public let client: OAuthClient
    public let response: AuthorizationResponse
    /// What the person has granted. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let identity: Identity
    public let language: PageLanguage

    /// Who the person is, as the app's backend states it.
    public enum Identity: Sendable, Confidential {
        /// It is a sign-in like every other.
        case identityToken(String, nonce: String?)
        /// - Parameter authenticatedAt: `nil` when the backend does not say it. That is too old for a client
        ///   with `max_authentication_age`.
        case account(String, authenticatedAt: Moment?)
    }

    /// How old the authentication may be.
    public var authenticationAge: AuthenticationAge {
        AuthenticationAge(longest: client.maxAuthenticationAge)
    }

    public func answer(code: String) -> AppFlipResponse {
        AppFlipResponse(
            redirectTo: response.location(code: code), outcome: .code, language: language)
    }

    /// The answer when there is no code.
    public func answer(_ obstacle: AppFlipObstacle) -> AppFlipResponse {
        AppFlipResponse(refusing: obstacle.outcome, by: response, language: language)
    }
}
