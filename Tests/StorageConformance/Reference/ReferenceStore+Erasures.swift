public import AppleAccounts
import Synchronization

extension ReferenceStore {
    public func erasure(_ id: ErasureID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.id == id } }
    }

    public func erasure(of id: AccountID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.accountID == id } }
    }

    public func claimErasureGrants(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureGrant] {
        state.withLock { state in
            let due = state.erasures.filter { id == nil || $0.id == id }.flatMap(\.grants)
                .filter { !$0.isDone && $0.nextAttemptAt <= moment }
                .sorted { ($0.nextAttemptAt, $0.id) < ($1.nextAttemptAt, $1.id) }
            return due.prefix(limit).compactMap { grant in
                guard let (position, index) = state.place(of: grant.id) else { return nil }
                state.erasures[position].grants[index].attempts += 1
                state.erasures[position].grants[index].nextAttemptAt = leaseUntil
                state.erasures[position].grants[index].isClaimed = true
                let erasure = state.erasures[position]
                return ClaimedErasureGrant(
                    erasureID: erasure.id, accountID: erasure.accountID, team: erasure.team,
                    deadline: erasure.deadline, grant: erasure.grants[index], isInterrupted: grant.isClaimed)
            }
        }
    }

    public func save(_ grant: ErasureGrant, of id: ErasureID, at moment: Moment) async throws {
        if let cause = grant.cause, !(1...ErasureGrant.longestCause).contains(cause.unicodeScalars.count) {
            throw StorageError(.valueRefused, detail: "a cause out of bounds")
        }
        state.withLock { state in
            guard let (position, index) = state.place(of: grant.id), state.erasures[position].id == id,
                !state.erasures[position].grants[index].isDone
            else { return }
            var saved = grant
            saved.isClaimed = false
            if saved.isDone { saved.sealed = nil }
            state.erasures[position].grants[index] = saved
            if state.erasures[position].grants.allSatisfy(\.isDone) {
                state.erasures[position].finishedAt = moment
            }
        }
    }

    public func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            guard let (position, index) = state.place(of: codeID) else { return false }
            let code = state.erasures[position].grants[index]
            guard code.step == .exchange else { return false }
            state.erasures[position].grants[index] = ErasureGrant(
                id: tokenID, clientID: code.clientID, primaryClientID: code.primaryClientID,
                kind: .refreshToken, step: .revoke, attempts: code.attempts, nextAttemptAt: moment,
                sealed: sealed)
            state.erasures[position].grants.sort { $0.id < $1.id }
            return true
        }
    }
}

extension ReferenceState {
    fileprivate func place(of grant: UniqueID) -> (erasure: Int, grant: Int)? {
        for (position, erasure) in erasures.enumerated() {
            if let index = erasure.grants.firstIndex(where: { $0.id == grant }) { return (position, index) }
        }
        return nil
    }
}
