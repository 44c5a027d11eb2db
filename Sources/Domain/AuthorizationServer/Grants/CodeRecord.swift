public import AppleAccounts
public import Cryptography

/// A stored authorization code: its digest and all values that the code is bound to.
public struct CodeRecord: Sendable, Hashable {
    /// SHA-256 of the code's text.
    public let digest: SHA256Digest
    public let grantID: GrantID
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The redirect URI, byte for byte as in the authorization request.
    public let redirectURI: String
    /// The code challenge. `nil` if the request had none.
    public let challenge: StoredChallenge?
    /// Scope, space-separated.
    public let scope: String
    /// The `nonce` for the ID token.
    public let nonce: String?
    public let authenticatedAt: Moment
    public let authorizedAt: Moment
    public let issuedAt: Moment
    public let expiresAt: Moment
    public var redemption: Redemption?

    /// Retention time of a code after its expiry, in milliseconds, so that a second use is recognized.
    public static let keptAfterExpiry: Int64 = 86_400_000

    /// The only successful use of a code. The row is kept for a day after the code's expiry, so that a second
    /// use is recognized.
    public struct Redemption: Sendable, Hashable {
        public let moment: Moment
        public let familyID: UniqueID

        public init(moment: Moment, familyID: UniqueID) { (self.moment, self.familyID) = (moment, familyID) }
    }

    /// A code challenge (RFC 7636 §4.2).
    public struct StoredChallenge: Sendable, Hashable {
        public let text: String
        public let isPlain: Bool

        public init(text: String, isPlain: Bool) { (self.text, self.isPlain) = (text, isPlain) }
    }

    public init(
        digest: SHA256Digest, grantID: GrantID, accountID: AccountID, oauthClientID: OAuthClientID,
        redirectURI: String, challenge: StoredChallenge?, scope: String, nonce: String?,
        authenticatedAt: Moment, authorizedAt: Moment, issuedAt: Moment, expiresAt: Moment,
        redemption: Redemption? = nil
    ) {
        self.digest = digest
        self.grantID = grantID
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.scope = scope
        self.nonce = nonce
        self.authenticatedAt = authenticatedAt
        self.authorizedAt = authorizedAt
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.redemption = redemption
    }
}

extension CredentialRecord {
    /// Returns the authorization that a code is based on. Throws a refusal if the credential has none for
    /// this authentication.
    ///
    /// The transaction that creates the code applies this rule. The App Flip prompt also applies it
    /// beforehand, so that the app does not ask a user who cannot be linked.
    ///
    /// - Parameters:
    ///   - oldest: Earliest authentication time the client accepts; `nil` if it has no
    ///     `max_authentication_age`.
    ///   - isDeletedAtApple: True if the user has deleted the Apple Account, which the credential no longer
    ///     shows if an app was revoked later.
    public func authorization(
        forAuthenticationAt moment: Moment, notBefore oldest: Moment?, isDeletedAtApple: Bool = false
    ) throws(GrantRefusal) -> Authorization {
        guard state == .authorized, let authorization else {
            let isDeleted = isDeletedAtApple || reason == .appleAccountDeleted
            throw GrantRefusal(isDeleted ? .appleAccountDeleted : .credentialRevoked)
        }
        // The latest revocation ended every session that began before it, even if the user has since signed
        // in again in another browser or on another device.
        guard admits(authorizationAt: moment) else { throw GrantRefusal(.credentialRevoked) }
        if let oldest, moment < oldest { throw GrantRefusal(.authenticationTooOld) }
        return authorization
    }
}
