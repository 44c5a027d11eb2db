public import AppleIdentity
package import JOSE

extension IdentityTokenVerifier {
    /// Verifies a token as the app sent it, with the key that the token names.
    ///
    /// For Swift servers that verify in process. Everything that needs no key is checked first, so that a
    /// malformed token never causes a fetch:
    /// ```swift
    /// let keys = RemoteKeySet(source: HTTPKeySetSource(client: httpClient))    // one for the whole process
    /// let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: ["com.example.app"]))
    /// let user = try await verifier.verify(
    ///     token, keys: keys, expecting: .init(), at: SystemKeySetClock().now)
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

extension NotificationVerifier {
    /// Verifies the `payload` of a server-to-server notification with the key that it names.
    ///
    /// Throws `AppleTokenError` when the notification is refused, and `KeySetError` with `.keysUnavailable`
    /// when the key cannot be fetched now: respond to Apple with 503, so that it delivers the notification
    /// again.
    public func verify(
        _ compact: String, keys: some VerificationKeys, at now: NumericDate
    ) async throws -> VerifiedNotification {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), at: now)
    }
}

extension VerificationKeys {
    /// Returns the key that a token names. An unknown key is an error of the token and becomes an
    /// `AppleTokenError`; only `.keysUnavailable` stays a `KeySetError`.
    package func key(of token: UnverifiedToken) async throws -> RSAPublicKey {
        do throws(KeySetError) {
            return try await key(for: token.keyID, issuedAt: token.claimedIssuedAt)
        } catch {
            switch error.code {
            case .unknownKey: throw AppleTokenError(.unknownKey)
            case .keysUnavailable: throw error
            }
        }
    }
}
