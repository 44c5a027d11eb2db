import JOSE
import KeySets

/// A key set that has every key only after a fetch.
struct FetchedKeys: VerificationKeys {
    private let keys: PinnedKeySet

    init(_ keys: PinnedKeySet) {
        self.keys = keys
    }

    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        await Task.yield()
        return try await keys.key(for: keyID)
    }
    var health: KeySetHealth { keys.health }
}
