public import AppleAccounts
public import AuthorizationServer
import Synchronization

extension ReferenceStore {
    public func signingKeys() async throws -> [SigningKeyRecord] {
        state.withLock { $0.oauth.newestKeysFirst }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        state.withLock { state in
            let isThere = state.oauth.signingKeys.contains {
                $0.keyID == key.keyID || $0.algorithm == key.algorithm && $0.createdAt >= moment
            }
            if !isThere {
                state.oauth.signingKeys.append(key)
                state.append([key.auditEntry])
            }
            return state.oauth.newestKeysFirst
        }
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        state.withLock { state in
            let index = state.oauth.signingKeys.firstIndex {
                $0.keyID == key.keyID && $0.sealed == key.sealed
            }
            guard let index else { return false }
            state.oauth.signingKeys[index].sealed = sealed
            return true
        }
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            let index = state.oauth.signingKeys.firstIndex {
                $0.keyID == key.keyID && $0.sealed == key.sealed
            }
            guard let index else { return false }
            state.oauth.signingKeys.remove(at: index)
            state.append([SigningKeyRecord.removalEntry(of: [key.keyID], by: origin, at: moment)])
            return true
        }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let retired = state.oauth.signingKeys.filter { $0.retiresAt < moment }
            guard !retired.isEmpty else { return 0 }
            state.oauth.signingKeys.removeAll { $0.retiresAt < moment }
            state.append([SigningKeyRecord.removalEntry(of: retired.map(\.keyID), at: moment)])
            return retired.count
        }
    }
}

extension ReferenceGrants {
    fileprivate var newestKeysFirst: [SigningKeyRecord] {
        signingKeys.sorted { ($0.createdAt, $0.keyID) > ($1.createdAt, $1.keyID) }
    }
}
