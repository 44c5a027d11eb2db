package import AppleIdentity
package import JOSE

extension VerificationKeys {
    /// The key that a token names. A key that is not Apple's is the token's fault and refuses it like
    /// everything else about it; only "nobody can say at the moment" stays a `KeySetError`.
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
