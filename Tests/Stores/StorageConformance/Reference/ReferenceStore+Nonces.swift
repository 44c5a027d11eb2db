public import AppleAccounts
import Synchronization

extension ReferenceStore: NonceKeyStore {
    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        state.withLock { state in
            let key = state.nonceKey ?? candidate
            state.nonceKey = key
            return key
        }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.usedNonces.count
            state.usedNonces = state.usedNonces.filter { $0.value.keptUntil >= moment }
            return before - state.usedNonces.count
        }
    }
}
