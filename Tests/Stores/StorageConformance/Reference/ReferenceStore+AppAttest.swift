public import AppAttestation
public import AppleAccounts
import Synchronization

extension ReferenceStore: AppAttestStore {
    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        state.withLock { $0.attestedKeys[id] }
    }

    public func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.attestedKeys.count
            state.attestedKeys = state.attestedKeys.filter { $0.value.usedAt >= moment }
            return before - state.attestedKeys.count
        }
    }
}
