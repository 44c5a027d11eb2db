// KeySets owns where verification keys come from and how long they are trusted: the remote key set with its
// cache, the pinned one, and the roles they need (source, snapshot store, clock). It does not own HTTP, a
// database, or any rule about tokens, and it knows no more of a key than JOSE says.

public import JOSE

/// Answers with the public key that a token names.
///
/// Every answer is of the last good set: a key that has left it is not found any more.
public protocol VerificationKeys: Sendable {
    /// The hot path: no suspension, no allocation, never a fetch. `nil` when no usable key has this ID at the
    /// moment, which only `key(for:)` can tell from "not yet fetched".
    func cachedKey(for keyID: String) -> RSAPublicKey?

    /// May wait for a fetch, its own or one that already runs. Throws `.unknownKey` when the set as last
    /// fetched lacks the key, and `.keysUnavailable` when nobody can say at the moment.
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey

    /// For readiness and metrics.
    var health: KeySetHealth { get }
}
