public import AppleAccounts

/// What the rest of the configuration says and the checks of the section `oauth` need.
public struct OAuthSurroundings: Sendable {
    public let isDevelopment: Bool
    /// `SIWA_PUBLIC_URL`. It is the issuer when `oauth.issuer` is absent.
    public let publicURL: String?
    public let deployment: Deployment
    /// The primary client IDs of the apps that have a Services ID with a web return URL.
    public let appsWithWebSignIn: Set<ClientID>

    public init(
        isDevelopment: Bool, publicURL: String?, deployment: Deployment, appsWithWebSignIn: Set<ClientID>
    ) {
        self.isDevelopment = isDevelopment
        self.publicURL = publicURL
        self.deployment = deployment
        self.appsWithWebSignIn = appsWithWebSignIn
    }
}
