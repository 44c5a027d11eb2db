public import AppAttestation
public import AppleAccounts

/// A client of this authorization server, as the configuration declares it and after all checks.
///
/// A client does not change while the service runs. The type is a class, because every request refers to its
/// client, and a reference is cheaper to pass on than fifteen members.
public final class OAuthClient: Sendable {
    public let id: OAuthClientID
    public let kind: ClientKind
    /// Settings of Google linking, if the client is Google.
    public let googleLinking: GoogleLinking?
    /// The client's app on Android; for Google the app that Google starts by an intent.
    public let androidApp: AndroidApp?
    /// The app of whose users the client acts, by its primary client ID.
    public let app: ClientID
    /// The name that users see.
    public let name: LocalizedText
    /// The purpose of the client, in a sentence for users.
    public let purpose: LocalizedText?
    /// The picture and the links on the pages.
    public let appearance: ClientAppearance
    /// True for a client of the app's own makers. The consent page then says "Sign in", and is still shown.
    public let isFirstParty: Bool
    /// Hashes of the client's secrets. Several while a secret is rotated. Empty for a public client without a
    /// secret.
    public let secretHashes: [OAuthClientSecretHash]
    /// Scopes that the client may request. It gets all of them when its request has no scope.
    public let scopes: ScopeSet
    /// True if the scopes `email` and `profile` imply `openid`.
    public let impliesOpenID: Bool
    public let redirectURIs: [RegisteredRedirectURI]
    /// URIs to which a browser may go after the user has signed out.
    public let postLogoutRedirectURIs: [RegisteredRedirectURI]
    public let lifetimes: ClientLifetimes
    /// Seconds since its first exchange in which a refresh token may be exchanged again. `nil` is the time of
    /// `OAuthSettings`.
    public let refreshRetryWindow: Int64?
    /// Number of refresh tokens of the client for one account. Above it the oldest ends.
    public let refreshTokenLimit: Int
    /// Largest age in seconds of the user's sign-in at Apple. `nil` is no bound.
    public let maxAuthenticationAge: Int64?
    /// The `aud` of its access tokens, and the only `resource` that it can name (RFC 8707).
    public let audience: String
    public let accessTokenAlgorithm: TokenAlgorithm
    public let idTokenAlgorithm: TokenAlgorithm
    /// True if the method `plain` of RFC 7636 is accepted. It does not protect a code from a reader of the
    /// authorization request.
    public let allowsPlainProofKeys: Bool
    /// Rule for the code challenge in an authorization request.
    public let proofKeyRule: ProofKeyRule
    /// App Check of the token requests. `nil` for a client that does not declare it.
    public let appCheck: AppCheckPolicy?
    /// The `aud` of the identity tokens of Apple that the client may exchange for tokens (RFC 8693). `nil`
    /// for a client whose users sign in in the browser only.
    public let nativeSignInBundleID: ClientID?
    /// True if devices without a browser may ask for a user (RFC 8628).
    public let allowsDeviceGrant: Bool
    /// True if the client's web app on the home screen of iOS may open the consent page, which then any web
    /// view on Apple's platforms may.
    public let allowsHomeScreenApp: Bool
    /// The client's event stream. `nil` without one.
    public let events: ClientEvents?

    init(
        id: OAuthClientID, kind: ClientKind, googleLinking: GoogleLinking?,
        androidApp: AndroidApp?, app: ClientID,
        name: LocalizedText,
        purpose: LocalizedText?, appearance: ClientAppearance, isFirstParty: Bool,
        secretHashes: [OAuthClientSecretHash], scopes: ScopeSet, impliesOpenID: Bool,
        redirectURIs: [RegisteredRedirectURI], postLogoutRedirectURIs: [RegisteredRedirectURI],
        lifetimes: ClientLifetimes, refreshRetryWindow: Int64?, refreshTokenLimit: Int,
        maxAuthenticationAge: Int64?, audience: String,
        accessTokenAlgorithm: TokenAlgorithm, idTokenAlgorithm: TokenAlgorithm, allowsPlainProofKeys: Bool,
        proofKeyRule: ProofKeyRule, appCheck: AppCheckPolicy?, nativeSignInBundleID: ClientID?,
        allowsDeviceGrant: Bool, allowsHomeScreenApp: Bool, events: ClientEvents?
    ) {
        self.allowsHomeScreenApp = allowsHomeScreenApp
        self.events = events
        self.allowsDeviceGrant = allowsDeviceGrant
        self.id = id
        self.kind = kind
        self.googleLinking = googleLinking
        self.androidApp = androidApp
        self.app = app
        self.name = name
        self.purpose = purpose
        self.appearance = appearance
        self.isFirstParty = isFirstParty
        self.secretHashes = secretHashes
        self.scopes = scopes
        self.impliesOpenID = impliesOpenID
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.lifetimes = lifetimes
        self.refreshRetryWindow = refreshRetryWindow
        self.refreshTokenLimit = refreshTokenLimit
        self.maxAuthenticationAge = maxAuthenticationAge
        self.audience = audience
        self.accessTokenAlgorithm = accessTokenAlgorithm
        self.idTokenAlgorithm = idTokenAlgorithm
        self.allowsPlainProofKeys = allowsPlainProofKeys
        self.proofKeyRule = proofKeyRule
        self.appCheck = appCheck
        self.nativeSignInBundleID = nativeSignInBundleID
    }
}

extension OAuthClient {
    /// True if App Check judges the token requests of the client.
    public var isJudged: Bool { appCheck.map { $0.mode != .off } ?? false }
}

extension OAuthClient: CustomStringConvertible {
    public var description: String { "client \(id.rawValue)" }
}
