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
        let end = moment.advanced(byMilliseconds: -NonceRecord.keptAfterExpiry)
        return state.withLock { state in
            let before = state.usedNonces.count + state.storedNonces.count
            state.usedNonces = state.usedNonces.filter { $0.value.keptUntil >= moment }
            state.storedNonces = state.storedNonces.filter { $0.value.expiresAt >= end }
            return before - state.usedNonces.count - state.storedNonces.count
        }
    }

    /// Stores a nonce as an earlier version minted it.
    public func store(_ nonce: NonceRecord) {
        state.withLock { $0.storedNonces[nonce.digest] = nonce }
    }
}
