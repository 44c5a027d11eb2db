public import AppleAccounts

/// A client of this authorization server, as the configuration declares it and after all checks.
///
/// It does not change while the service runs. It is a class, because every request refers to its client, and
/// a reference is cheaper to pass on than fifteen members.
public final class OAuthClient: Sendable {
    public let id: OAuthClientID
    public let kind: ClientKind
    /// The app whose people it acts for, by its primary client ID.
    public let app: ClientID
    /// The name that people see.
    public let name: LocalizedText
    /// What the client is for, in a sentence for people.
    public let purpose: LocalizedText?
    /// Whether it belongs to the makers of the app. The page then says "Sign in", and it is shown all the
    /// same.
    public let isFirstParty: Bool
    /// More than one while a secret is rotated. Empty for a public client without one.
    public let secretHashes: [OAuthClientSecretHash]
    /// What it may ask for, and what it gets when it names no scope.
    public let scopes: ScopeSet
    public let redirectURIs: [RegisteredRedirectURI]
    public let lifetimes: ClientLifetimes
    /// How many refresh tokens it has for one account. Past it the oldest ends.
    public let refreshTokenLimit: Int
    /// How many seconds ago a person may have signed in at Apple. `nil` is no bound.
    public let maxAuthenticationAge: Int64?
    /// The `aud` of its access tokens, and the only `resource` that it can name (RFC 8707).
    public let audience: String
    public let accessTokenAlgorithm: TokenAlgorithm
    public let idTokenAlgorithm: TokenAlgorithm
    /// Whether the method `plain` of RFC 7636 is accepted. It does not protect a code from a reader of the
    /// authorization request.
    public let allowsPlainProofKeys: Bool
    /// When an authorization request must have a code challenge.
    public let proofKeyRule: ProofKeyRule

    init(
        id: OAuthClientID, kind: ClientKind, app: ClientID, name: LocalizedText, purpose: LocalizedText?,
        isFirstParty: Bool, secretHashes: [OAuthClientSecretHash], scopes: ScopeSet,
        redirectURIs: [RegisteredRedirectURI],
        lifetimes: ClientLifetimes, refreshTokenLimit: Int, maxAuthenticationAge: Int64?, audience: String,
        accessTokenAlgorithm: TokenAlgorithm, idTokenAlgorithm: TokenAlgorithm, allowsPlainProofKeys: Bool,
        proofKeyRule: ProofKeyRule
    ) {
        self.id = id
        self.kind = kind
        self.app = app
        self.name = name
        self.purpose = purpose
        self.isFirstParty = isFirstParty
        self.secretHashes = secretHashes
        self.scopes = scopes
        self.redirectURIs = redirectURIs
        self.lifetimes = lifetimes
        self.refreshTokenLimit = refreshTokenLimit
        self.maxAuthenticationAge = maxAuthenticationAge
        self.audience = audience
        self.accessTokenAlgorithm = accessTokenAlgorithm
        self.idTokenAlgorithm = idTokenAlgorithm
        self.allowsPlainProofKeys = allowsPlainProofKeys
        self.proofKeyRule = proofKeyRule
    }
}

extension OAuthClient: CustomStringConvertible {
    public var description: String { "client \(id.rawValue)" }
}
