import JOSE
import KeySets
import Synchronization

/// Keys that can be removed, as in an outage of Apple.
final class SwitchedKeys: VerificationKeys {
    private let keys: any VerificationKeys
    private let isAway = Mutex(false)

    init(_ keys: any VerificationKeys) {
        self.keys = keys
    }

    func takeAway() { isAway.withLock { $0 = true } }

    func cachedKey(for keyID: String) -> RSAPublicKey? {
        isAway.withLock { $0 } ? nil : keys.cachedKey(for: keyID)
    }

    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        guard !isAway.withLock({ $0 }) else { throw KeySetError(.keysUnavailable) }
        return try await keys.key(for: keyID)
    }

    var health: KeySetHealth { keys.health }
}
