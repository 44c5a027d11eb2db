import JOSE
import KeySets
import Synchronization
import TokenMint

/// Keys that are present, keys that need a fetch, or no keys. Counts the requested fetches.
final class StubKeys: VerificationKeys {
    private let cached: [String: RSAPublicKey]
    private let fetched: [String: RSAPublicKey]
    private let failure: KeySetError.Code
    private let fetches = Mutex(0)
    private let lookups = Mutex(0)

    init(
        cached: [String: RSAPublicKey] = [:], fetched: [String: RSAPublicKey] = [:],
        failure: KeySetError.Code = .unknownKey
    ) {
        (self.cached, self.fetched, self.failure) = (cached, fetched, failure)
    }

    var fetchCount: Int { fetches.withLock { $0 } }
    /// Number of key look-ups; every verification does one.
    var lookupCount: Int { lookups.withLock { $0 } }

    func cachedKey(for keyID: String) -> RSAPublicKey? {
        lookups.withLock { $0 += 1 }
        return cached[keyID]
    }

    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        fetches.withLock { $0 += 1 }
        guard let key = fetched[keyID] else { throw KeySetError(failure) }
        return key
    }

    var health: KeySetHealth { preconditionFailure("no test asks for it") }
}

extension TokenMint {
    /// The mint's public key, by its ID.
    func publicKeys() throws -> [String: RSAPublicKey] {
        let set = try JSONWebKeySet(parsing: keySet)
        guard let key = set.key(for: keyID) else { return [:] }
        return [keyID: key]
    }
}
