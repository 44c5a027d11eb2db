/// A request to `/oauth/token` of an authenticated client. Nothing has been looked up yet.
public struct TokenRequest: Sendable {
    public let client: OAuthClient
    public let grantType: GrantType
    public let grant: Grant
    public let app: AppProofParameters

    public enum Grant: Sendable {
        case authorizationCode(CodeGrant)
        case refreshToken(RefreshGrant)
        case assertion(AssertionGrant)
        case exchange(ExchangeGrant)
        case device(DeviceGrant)
    }

    /// RFC 6749 §4.1.3. An absent parameter counts as wrong, and is `invalid_grant` like every fault of a
    /// code.
    public struct CodeGrant: Sendable, Confidential {
        public let code: String
        public let redirectURI: String?
        public let codeVerifier: String?
    }

    /// RFC 6749 §6.
    public struct RefreshGrant: Sendable, Confidential {
        public let refreshToken: String
        /// Some of the scopes of the refresh token. `nil` is the whole scope.
        public let scope: ScopeSet?
    }

    /// RFC 7523 §2.1, as Google's streamlined linking uses it.
    public struct AssertionGrant: Sendable, Confidential {
        public let assertion: String
        public let intent: Intent
        /// `nil` is all scopes of the client.
        public let scope: ScopeSet?
    }

    /// RFC 8693 §2.1, with the members that `POST /v1/sign-ins` has.
    public struct ExchangeGrant: Sendable, Confidential {
        /// Apple's identity token.
        public let subjectToken: String
        /// The nonce of this service whose digest is in the identity token.
        public let nonce: String
        /// Apple's code, which came with the identity token.
        public let authorizationCode: String?
        /// Apple's object with the name of the user, as JSON text.
        public let user: String?
        /// `nil` is all scopes of the client.
        public let scope: ScopeSet?
    }

    /// RFC 8628 §3.4.
    public struct DeviceGrant: Sendable, Confidential {
        public let deviceCode: String
    }

    /// The request of Google: the existence of an account, or tokens.
    public enum Intent: String, Sendable, Hashable, CaseIterable {
        /// Asks if there is an account.
        case check
        /// Requests tokens for the existing account.
        case get
        /// Requests a new account, and tokens for it.
        case create
    }
}
