public import AppleAccounts
public import AuthorizationServer

/// The result of asking whether and what an app may ask its user.
public enum AppFlipPrompt: Sendable {
    /// The app asks.
    case ask(LinkQuestion)
    /// The app opens the URL of the response, and asks nothing.
    ///
    /// - Parameter endsWithSignIn: True if the user can be linked after a new sign-in with Apple in the app.
    case refused(AppFlipResponse, endsWithSignIn: Bool)
}

/// Contents of the app's own sheet, which asks in place of the consent page.
public struct LinkQuestion: Sendable {
    public let client: OAuthClient
    /// The name for users of the app whose account is linked.
    public let appName: LocalizedText
    /// Scopes that the link requests, in its order.
    public let scopes: [DeclaredScope]
    public let language: PageLanguage
    /// `nil` before the user has signed in.
    public let account: Account?

    init(_ link: AppFlipLink, _ settings: OAuthSettings, account: Account? = nil) {
        client = link.client
        appName = settings.appName(of: link.client.app)
        scopes = settings.scopes.declarations(of: link.scopes)
        language = link.language
        self.account = account
    }
}
