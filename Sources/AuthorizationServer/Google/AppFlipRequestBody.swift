public import AppleAccounts

/// The members of `POST /v1/oauth/app-flip` as the backend of the app posts them. They are not checked.
public struct AppFlipRequestBody: Sendable, Confidential {
    // What the universal link has brought.
    public var clientID: String?
    public var redirectURI: String?
    public var state: String?
    public var scope: String?
    public var codeChallenge: String?
    public var codeChallengeMethod: String?
    public var userLocale: String?
    /// What the person has answered in the app: `granted`, `denied` or `cancelled`.
    public var decision: String?
    /// Some of `scope`; empty when the person has granted none. `nil` is all of them.
    public var grantedScopes: String?
    // Who the person is.
    public var identityToken: String?
    public var nonce: String?
    public var accountID: String?
    public var authenticatedAt: Moment?

    public init() {}
}
