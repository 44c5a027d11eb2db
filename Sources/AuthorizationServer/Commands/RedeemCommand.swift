public import AppleAccounts
public import Cryptography

/// A code is redeemed (RFC 6749 §4.1.3). The client is authenticated already.
public struct RedeemCommand: Sendable, Hashable {
    public let codeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    public let redirectURI: String
    /// As posted; `nil` without.
    public let codeVerifier: String?
    /// What the configuration gives the client now. A code for none of these is kept.
    public let clientScopes: ScopeSet
    public let newLineID: UniqueID
    public let isNative: Bool
    /// `nil` when the client gets none, also with the scope `offline_access`.
    public let refreshToken: NewRefreshToken?
    /// Whether `refreshToken` is given only with the scope `offline_access`.
    public let needsOfflineAccess: Bool
    /// When the line ends if its refresh token is not used.
    public let lineExpiresAt: Moment
    /// When the line ends if it has no refresh token: with its access token. `nil` is `lineExpiresAt`.
    public let accessTokenExpiresAt: Moment?
    public let ceilings: LineCeilings
    public let moment: Moment

    public init(
        codeDigest: SHA256Digest, oauthClientID: OAuthClientID, redirectURI: String, codeVerifier: String?,
        clientScopes: ScopeSet, newLineID: UniqueID, isNative: Bool, refreshToken: NewRefreshToken?,
        needsOfflineAccess: Bool, lineExpiresAt: Moment, accessTokenExpiresAt: Moment? = nil,
        ceilings: LineCeilings, moment: Moment
    ) {
        self.codeDigest = codeDigest
        self.oauthClientID = oauthClientID
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.clientScopes = clientScopes
        self.newLineID = newLineID
        self.isNative = isNative
        self.refreshToken = refreshToken
        self.needsOfflineAccess = needsOfflineAccess
        self.lineExpiresAt = lineExpiresAt
        self.accessTokenExpiresAt = accessTokenExpiresAt
        self.ceilings = ceilings
        self.moment = moment
    }
}

/// The most lines with a refresh token. Beyond it the oldest ends.
public struct LineCeilings: Sendable, Hashable {
    /// For one OAuth client and account.
    public let perClient: Int
    /// For one account over all native clients; `nil` for other clients. A link with Google never counts.
    public let perAccount: Int?

    public init(perClient: Int, perAccount: Int?) {
        (self.perClient, self.perAccount) = (perClient, perAccount)
    }
}
