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

    /// True for an intent of Android: no URL is opened, and the app gives the result to Google's app.
    public var isIntent: Bool { response.target.form == .googleProject }

    public func response(code: String) -> AppFlipResponse {
        AppFlipResponse(
            redirectTo: response.location(code: code), outcome: .code,
            message: AppFlipOutcome.code.message(in: language), code: isIntent ? code : nil)
    }

    /// Returns the response when there is no code.
    public func response(_ obstacle: AppFlipObstacle) -> AppFlipResponse {
        AppFlipResponse(refusing: obstacle, by: response, language: language)
    }
}
