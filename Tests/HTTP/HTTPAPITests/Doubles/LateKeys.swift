import JOSE
import KeySets

/// A key set that lets its callers wait and then has no key.
struct LateKeys: VerificationKeys {
    let delay: Duration

    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        try? await Task.sleep(for: delay)
        throw KeySetError(.keysUnavailable)
    }
    var health: KeySetHealth { KeySetHealth(status: .unavailable(.timedOut), keyCount: 0) }
}
