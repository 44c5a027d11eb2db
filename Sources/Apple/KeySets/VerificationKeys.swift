// KeySets owns the source and the lifetime of verification keys: the remote key set with its cache, the
// pinned key set, and the protocols that they need (source, snapshot store, clock). It does not own HTTP, a
// database, or any rule about tokens.

public import AppleIdentity
public import JOSE

/// Finds the public key that a token names.
///
/// Keys come from the last good set: a key that has been removed from the set is not found.
public protocol VerificationKeys: Sendable {
    /// The hot path: no suspension, no allocation, no fetch. Returns `nil` when no usable key in the cache
    /// has this ID. Only `key(for:)` distinguishes an unknown key from a key that is not yet fetched.
    func cachedKey(for keyID: String) -> RSAPublicKey?

    /// Finds the key, and may wait for a fetch, new or already running. Throws `.unknownKey` when a fetch has
    /// looked for the key and not found it, and `.keysUnavailable` when this cannot be decided now.
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey

    /// Finds the key of a token that claims to be issued at this time. A token that is older than the last
    /// fetch has no key that this fetch could not find.
    ///
    /// - Parameter issuedAt: `iat`, unverified; `nil` when the token has none.
    func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey

    /// For readiness and metrics.
    var health: KeySetHealth { get }
}

extension VerificationKeys {
    /// For sets that do not fetch, for which the age of a token decides nothing.
    public func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey {
        try await key(for: keyID)
    }
}
