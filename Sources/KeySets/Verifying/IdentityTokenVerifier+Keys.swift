public import AppleIdentity

extension IdentityTokenVerifier {
    /// Verifies a token as the app sent it, with the key that the token names.
    ///
    /// For Swift servers that verify in process. Everything that needs no key is checked first, so that a
    /// malformed token never causes a fetch:
    /// ```swift
    /// let keys = RemoteKeySet(source: AppleKeySetSource(client: httpClient))    // one for the whole process
    /// let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: ["com.example.app"]))
    /// let user = try await verifier.verify(token, keys: keys, expecting: .init(), at: SystemKeySetClock().now)
    /// ```
    /// Throws `AppleTokenError` when the token is refused, and `KeySetError` with `.keysUnavailable` when the
    /// key cannot be fetched now.
    public func verify(
        _ compact: String, keys: some VerificationKeys, expecting expectations: IdentityTokenExpectations,
        at now: NumericDate
    ) async throws -> VerifiedIdentity {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), expecting: expectations, at: now)
    }
}
