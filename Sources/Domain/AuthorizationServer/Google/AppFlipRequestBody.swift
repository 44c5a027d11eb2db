public import AppleAccounts
public import StrictJSON

/// The members of `POST /v1/oauth/app-flip` as the backend of the app posts them, unchecked. The prompt has
/// those of the link, the account and the time of its sign-in.
public struct AppFlipRequestBody: Sendable, Confidential {
    // Parameters of the universal link.
    public var clientID: String?
    public var redirectURI: String?
    public var state: String?
    public var scope: String?
    public var codeChallenge: String?
    public var codeChallengeMethod: String?
    public var userLocale: String?
    /// The `Accept-Language` of the app, for a user whose `user_locale` the pages do not have.
    public var acceptLanguage: String?
    /// The user's decision in the app: `granted`, `denied` or `cancelled`.
    public var decision: String?
    /// A part of `scope`; empty when the user has granted no scope. `nil` is the whole scope.
    public var grantedScopes: String?
    // The user's identity.
    public var identityToken: String?
    public var nonce: String?
    public var accountID: String?
    public var authenticatedAt: Moment?
    // What the request says about the app.
    /// The member as posted: a proof of App Attest, unchecked.
    public var attestation: JSONValue?
    public var appVersion: String?

    public init() {}
}
