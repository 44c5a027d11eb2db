/// The section `oauth` of the configuration, as it was written and before any check.
///
/// A member is `nil` when the file does not have it.
public struct OAuthDraft: Sendable {
    public var issuer: String?
    /// `session_lifetime`, in seconds
    public var sessionLifetime: Int64?
    public var scopes: [ScopeDraft]
    public var clients: [ClientDraft]
    public var allowsAccountsWithoutApple: Bool
    /// `native_refresh_token_limit`: number for one account over all native clients
    public var nativeRefreshTokenLimit: Int64?
    /// `name` of an entry of `teams.apps`: texts by language tag, by the app's primary client ID
    public var appNames: [String: [String: String]] = [:]

    public init(
        issuer: String? = nil, sessionLifetime: Int64? = nil, scopes: [ScopeDraft] = [],
        clients: [ClientDraft] = [], allowsAccountsWithoutApple: Bool = false
    ) {
        self.issuer = issuer
        self.sessionLifetime = sessionLifetime
        self.scopes = scopes
        self.clients = clients
        self.allowsAccountsWithoutApple = allowsAccountsWithoutApple
    }
}

/// An entry of `oauth.scopes`.
public struct ScopeDraft: Sendable {
    public var name: String
    /// Texts by language tag.
    public var text: [String: String]
    public var isOptional: Bool

    public init(name: String, text: [String: String] = [:], isOptional: Bool = false) {
        self.name = name
        self.text = text
        self.isOptional = isOptional
    }
}
