/// A request to `/oauth/token` of a client that has proved who it is. Nothing has been looked up yet.
public struct TokenRequest: Sendable {
    public let client: OAuthClient
    public let grantType: GrantType
    public let grant: Grant

    public enum Grant: Sendable {
        case authorizationCode(CodeGrant)
        case refreshToken(RefreshGrant)
        case assertion(AssertionGrant)
    }

    /// RFC 6749 §4.1.3. What is absent does not fit, which is `invalid_grant` like everything that is wrong
    /// with a code.
    public struct CodeGrant: Sendable, Confidential {
        public let code: String
        public let redirectURI: String?
        public let codeVerifier: String?
    }

    /// RFC 6749 §6.
    public struct RefreshGrant: Sendable, Confidential {
        public let refreshToken: String
        /// Some of the scopes of the refresh token. `nil` is all of them.
        public let scope: ScopeSet?
    }

    /// RFC 7523 §2.1, as Google's streamlined linking uses it.
    public struct AssertionGrant: Sendable, Confidential {
        public let assertion: String
        public let intent: Intent
        /// `nil` is all of the client's.
        public let scope: ScopeSet?
    }

    /// What Google wants to know or to have.
    public enum Intent: String, Sendable, Hashable, CaseIterable {
        /// Whether there is an account.
        case check
        /// Tokens for the account that there is.
        case get
        /// A new account, and tokens for it.
        case create
    }
}
