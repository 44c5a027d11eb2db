/// Where the key that authenticates nonces is kept: with the accounts, so that all replicas have the same one.
public protocol NonceKeyStore: Sendable {
    /// Keeps the candidate unless a key is kept already, and returns the one that is kept: the same to all callers.
    ///
    /// - Throws: `StorageError`.
    func nonceKey(offering candidate: NonceKey) async throws -> NonceKey
}
