// KeySets owns where verification keys come from and how long they are trusted: the remote key set with its
// cache, the pinned key set, and the protocols that they need (source, snapshot store, clock). It does not
// own HTTP, a database, or any rule about tokens.

public import JOSE

/// Finds the public key that a token names.
///
/// Keys come from the last good set: a key that is no longer in it is not found.
public protocol VerificationKeys: Sendable {
    /// The hot path: no suspension, no allocation, no fetch. Returns `nil` when no usable key in the cache
    /// has this ID. Only `key(for:)` can tell whether the key is unknown or not yet fetched.
    func cachedKey(for keyID: String) -> RSAPublicKey?

    /// May wait for a fetch, a new one or one that already runs. Throws `.unknownKey` when the set as last
    /// fetched has no such key, and `.keysUnavailable` when that is not known now.
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey

    /// For readiness and metrics.
    var health: KeySetHealth { get }
}
