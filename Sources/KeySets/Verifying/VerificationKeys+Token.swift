package import AppleIdentity
package import JOSE

extension VerificationKeys {
    /// Returns the key that a token names. An unknown key is an error of the token and becomes an
    /// `AppleTokenError`; only `.keysUnavailable` stays a `KeySetError`.
    package func key(of token: UnverifiedToken) async throws -> RSAPublicKey {
        do throws(KeySetError) {
            return try await key(for: token.keyID)
        } catch {
            switch error.code {
            case .unknownKey: throw AppleTokenError(.unknownKey)
            case .keysUnavailable: throw error
            }
        }
    }
}
