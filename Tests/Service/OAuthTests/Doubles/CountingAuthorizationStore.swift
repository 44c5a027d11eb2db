import AppleAccounts
import AuthorizationServer
import StorageConformance
import Synchronization

/// A store that counts the reads of its signing keys.
final class CountingAuthorizationStore: RelayingAuthorizationStore {
    private let behind = ReferenceStore()
    private let count = Mutex(0)
    private let beforeOffer: @Sendable () async -> Void

    /// - Parameter beforeOffer: Runs before a new key is stored.
    init(beforeOffer: @escaping @Sendable () async -> Void = {}) { self.beforeOffer = beforeOffer }

    var grantsBehind: any AuthorizationStore { behind }

    var reads: Int { count.withLock { $0 } }

    func signingKeys() async throws -> [SigningKeyRecord] {
        count.withLock { $0 += 1 }
        return try await behind.signingKeys()
    }

    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]
    {
        await beforeOffer()
        return try await behind.offerSigningKey(key, unlessMadeAfter: moment)
    }
}
