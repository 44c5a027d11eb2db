/// The parameters of an App Flip link that passed every check, before the user is asked.
public struct AppFlipLink: Sendable {
    public let client: OAuthClient
    public let response: AuthorizationResponse
    /// Scopes that the link requests. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let language: PageLanguage

    /// The bound on the age of the authentication.
    public var authenticationAge: AuthenticationAge {
        AuthenticationAge(longest: client.maxAuthenticationAge)
    }

    public func response(code: String) -> AppFlipResponse {
        // An Android app gives the code itself to Google's app.
        let isIntent = response.target.form == .googleProject
        return AppFlipResponse(
            redirectTo: response.location(code: code), outcome: .code, language: language,
            code: isIntent ? code : nil)
    }

    /// Returns the response when there is no code.
    public func response(_ obstacle: AppFlipObstacle) -> AppFlipResponse {
        AppFlipResponse(refusing: obstacle.outcome, by: response, language: language)
    }
}
