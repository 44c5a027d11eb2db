public import AppleAccounts
public import Cryptography

/// A code is redeemed (RFC 6749 §4.1.3). The client is authenticated already.
public struct RedeemCommand: Sendable, Hashable {
    public let codeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    public let redirectURI: String
    /// The `code_verifier` as posted; `nil` when the request has none.
    public let codeVerifier: String?
    /// The client's scopes in the configuration. A code for none of them is kept.
    public let clientScopes: ScopeSet
    public let newFamilyID: UniqueID
    public let isNative: Bool
    /// `nil` when the client gets no refresh token, even with the scope `offline_access`.
    public let refreshToken: NewRefreshToken?
    /// True if `refreshToken` is issued only with the scope `offline_access`.
    public let needsOfflineAccess: Bool
    /// End of the token family if its refresh token is not used.
    public let familyExpiresAt: Moment
    /// End of the token family if it has no refresh token: the end of its access token. `nil` is
    /// `familyExpiresAt`.
    public let accessTokenExpiresAt: Moment?
    public let limits: FamilyLimits
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        codeDigest: SHA256Digest, oauthClientID: OAuthClientID, redirectURI: String, codeVerifier: String?,
        clientScopes: ScopeSet, newFamilyID: UniqueID, isNative: Bool, refreshToken: NewRefreshToken?,
        needsOfflineAccess: Bool, familyExpiresAt: Moment, accessTokenExpiresAt: Moment? = nil,
        limits: FamilyLimits, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.codeDigest = codeDigest
        self.oauthClientID = oauthClientID
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.clientScopes = clientScopes
        self.newFamilyID = newFamilyID
        self.isNative = isNative
        self.refreshToken = refreshToken
        self.needsOfflineAccess = needsOfflineAccess
        self.familyExpiresAt = familyExpiresAt
        self.accessTokenExpiresAt = accessTokenExpiresAt
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}

/// The largest numbers of token families with a refresh token. Above a limit the oldest family ends.
public struct FamilyLimits: Sendable, Hashable {
    /// Limit for one OAuth client and account.
    public let perClient: Int
    /// Limit for one account over all native clients; `nil` for other clients. Families of Google never
    /// count.
    public let perAccount: Int?

    public init(perClient: Int, perAccount: Int?) {
        (self.perClient, self.perAccount) = (perClient, perAccount)
    }
}
