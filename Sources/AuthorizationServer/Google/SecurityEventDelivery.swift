public import AppleAccounts
public import Cryptography

/// A pending notification to Google that a refresh token has ended (RISC, `token-revoked`).
///
/// Written in the transaction that ends the token. A worker claims the delivery, sends it, and removes it;
/// seven days after `createdAt` the worker gives it up.
public struct SecurityEventDelivery: Sendable, Hashable {
    /// Also the `jti` of the security event token, so that a repeated delivery is recognized.
    public let id: UniqueID
    public let oauthClientID: OAuthClientID
    /// Double SHA-512 of the token's text, by which Google finds the token.
    public let doubleSHA512: SHA512Digest
    public let createdAt: Moment
    public var attempts: Int64
    public var nextAttemptAt: Moment

    public init(
        id: UniqueID, oauthClientID: OAuthClientID, doubleSHA512: SHA512Digest, createdAt: Moment,
        attempts: Int64 = 0, nextAttemptAt: Moment
    ) {
        self.id = id
        self.oauthClientID = oauthClientID
        self.doubleSHA512 = doubleSHA512
        self.createdAt = createdAt
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
    }
}
