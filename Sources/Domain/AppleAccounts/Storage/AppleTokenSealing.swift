/// Seals the secrets that a store receives in the clear. A store is opened with a sealer.
public protocol AppleTokenSealing: Sendable {
    /// Seals a secret for one purpose, account and client ID. It cannot be opened for any other.
    ///
    /// A store calls this inside its transaction, when it writes the row, and again when it has to repeat the
    /// transaction. It must not wait for anything.
    /// - Throws: `StorageError` `valueRefused` when there is no key to seal with. Then only the command that
    ///   brought the secret fails.
    func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(StorageError) -> SealedSecret
}

extension AppleTokenSealing {
    /// Returns the row of a new code.
    public func seal(_ code: NewAuthorizationCode) throws(StorageError) -> AuthorizationCodeRecord {
        let offer = code.offer
        return AuthorizationCodeRecord(
            id: offer.id, accountID: code.accountID, clientID: offer.clientID,
            primaryClientID: code.primaryClientID, redirectURI: offer.redirectURI,
            sealed: try seal(
                offer.secret, as: .authorizationCode, of: code.accountID, clientID: offer.clientID),
            authorizedAt: code.authorizedAt, receivedAt: code.nextAttemptAt, expiresAt: offer.expiresAt,
            nextAttemptAt: code.nextAttemptAt)
    }
}

/// For a store that never receives a code, or that has no key: nothing is stored in the clear.
public struct NoAppleTokenSealing: AppleTokenSealing {
    public init() {}

    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(StorageError) -> SealedSecret {
        throw StorageError(
            .valueRefused,
            detail: "expected a sealing key for an authorization code, found none; open the store with one")
    }
}
