import AppleAccounts

extension SignInUseCases {
    /// Mints a nonce for one sign-in, and returns when it is durable. It is used up in the sign-in's own
    /// transaction.
    ///
    /// - Throws: `StorageError`, `OverloadedError`.
    public func mintNonce() async throws -> MintedNonce {
        let lifetime = nonceLifetime.components.seconds * 1000
        guard let minted = MintedNonce(expiresAt: now().advanced(byMilliseconds: lifetime)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        _ = try await commits.submit(
            .mintNonce(NonceRecord(digest: minted.digest, expiresAt: minted.expiresAt)))
        return minted
    }
}
