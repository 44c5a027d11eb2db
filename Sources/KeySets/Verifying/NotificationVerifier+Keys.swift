public import AppleIdentity

extension NotificationVerifier {
    /// Verifies the `payload` of a server-to-server notification with the key that it names.
    ///
    /// Throws `AppleTokenError` when the notification is refused, and `KeySetError` with `.keysUnavailable`
    /// when the key cannot be fetched now: answer that with 503, so that Apple delivers the notification
    /// again.
    public func verify(
        _ compact: String, keys: some VerificationKeys, at now: NumericDate
    ) async throws -> VerifiedNotification {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), at: now)
    }
}
