public import AppleIdentity

extension NotificationVerifier {
    /// Verifies the `payload` of a server-to-server notification with the key that it names.
    ///
    /// Throws `AppleTokenError` when it is refused, and `KeySetError` with `.keysUnavailable` when nobody can
    /// say at the moment: answer that with 503, so that Apple delivers it again.
    public func verify(
        _ compact: String, keys: some VerificationKeys, at now: NumericDate
    ) async throws -> VerifiedNotification {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), at: now)
    }
}
